# joined_sources(FOLDER …): with TAILRACE_UNITY, compiles the C++ sources of each program and library of the folders
# as one, in half the time. (Without it, as in preset dev, each is compiled by itself, and has to include what it
# uses.) Sources of one program that use one name for two things are compiled apart: see apart().
function(joined_sources)
  if(NOT TAILRACE_UNITY)
    return()
  endif()
  foreach(folder IN LISTS ARGN)
    get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target IN LISTS targets)
      get_target_property(type ${target} TYPE)
      if(NOT type MATCHES "UTILITY|INTERFACE")
        set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0 TAILRACE_JOINED ON)
      endif()
    endforeach()
  endforeach()
endfunction()

# apart(FILE …): sources of the caller's folder that joined_sources() compiles by themselves.
function(apart)
  set_property(SOURCE ${ARGN} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
