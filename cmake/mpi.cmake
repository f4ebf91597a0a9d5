# The MPIs of the machine, as python/tailrace/mpis.py finds them; a build may have programs of several. Their
# data are not cached: after a change of TAILRACE_MPI in the environment, configure again. (CMake's FindMPI supports
# one MPI per build, and takes the first mpiexec it finds.)
#
# TAILRACE_MPIS: their names, the selected one first; empty without an MPI. For each there is a library
# tailrace_mpi_<name>, which C++ programs link, and a command tailrace_mpi_start_<name>, which starts them; -n N
# PROGRAM follows it.
find_program(TAILRACE_PYTHON3 python3)
set(TAILRACE_MPIS "")

# _tailrace_mpi_words(RESULT JSON): sets RESULT to a list of the words of a JSON array.
function(_tailrace_mpi_words result array)
  string(JSON count LENGTH "${array}")
  set(words "")
  while(count GREATER 0)
    math(EXPR count "${count} - 1")
    string(JSON word GET "${array}" ${count})
    list(PREPEND words ${word})
  endwhile()
  set(${result} ${words} PARENT_SCOPE)
endfunction()

# _tailrace_mpi(JSON): makes the library of one MPI.
macro(_tailrace_mpi mpi)
  string(JSON name GET "${mpi}" name)
  string(JSON launcher GET "${mpi}" launcher)
  foreach(key IN ITEMS arguments includes options libraries)
    string(JSON array GET "${mpi}" ${key})
    _tailrace_mpi_words(${key} "${array}")
  endforeach()
  add_library(tailrace_mpi_${name} INTERFACE)
  target_include_directories(tailrace_mpi_${name} SYSTEM INTERFACE ${includes})
  target_compile_options(tailrace_mpi_${name} INTERFACE ${options})
  # Without the old C++ interface, which is in a library of its own.
  target_compile_definitions(tailrace_mpi_${name} INTERFACE OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
  target_link_libraries(tailrace_mpi_${name} INTERFACE ${options} ${libraries})
  list(APPEND names ${name})
  set(tailrace_mpi_start_${name} ${launcher} ${arguments} PARENT_SCOPE)
endmacro()

function(_tailrace_find_mpis)
  set(finder ${PROJECT_SOURCE_DIR}/python/tailrace/mpis.py)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${finder})
  execute_process(COMMAND ${TAILRACE_PYTHON3} -B ${finder} --json OUTPUT_VARIABLE json ERROR_VARIABLE why
                  RESULT_VARIABLE code ERROR_STRIP_TRAILING_WHITESPACE)
  if(code EQUAL 1)
    message(STATUS "${why}")
    return()
  elseif(NOT code EQUAL 0)
    message(FATAL_ERROR "${why}")
  endif()
  string(JSON summary GET "${json}" summary)
  message(STATUS "${summary}")
  set(names "")
  string(JSON count LENGTH "${json}" mpis)
  math(EXPR last "${count} - 1")
  foreach(index RANGE ${last})
    string(JSON mpi GET "${json}" mpis ${index})
    _tailrace_mpi("${mpi}")
  endforeach()
  set(TAILRACE_MPIS ${names} PARENT_SCOPE)
endfunction()

if(TAILRACE_PYTHON3)
  _tailrace_find_mpis()
endif()
