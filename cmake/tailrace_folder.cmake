# tailrace_folder(NAME [SOURCES …] [USES …] [PRIVATE …]): one CMake target for one folder of src.
#
# The target is tailrace_<NAME with / replaced by _>. USES names the folders (targets) whose headers it may include;
# PRIVATE the libraries that stay inside it. A folder of headers alone becomes an interface target. A folder that is
# not used is not found: the include path of a target has its own headers and those of what it uses, and no others.
function(tailrace_folder name)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES;PRIVATE" ${ARGN})
  string(REPLACE "/" "_" target "tailrace_${name}")
  if(ARG_SOURCES)
    tailrace_joined(sources ${name} ${ARG_SOURCES})
    add_library(${target} STATIC ${sources})
    set(scope PUBLIC)
    target_link_libraries(${target} PRIVATE tailrace_warnings ${ARG_PRIVATE})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  tailrace_headers(headers ${name})
  target_include_directories(${target} ${scope} ${headers} ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${target} ${scope} ${ARG_USES} tailrace_flags)
endfunction()

# The folder that the links and sources below are made in. The presets and the Python package share one, so that they
# give the compiler, and its cache, the same commands. A relative path is relative to the source folder.
set(TAILRACE_HEADERS ${PROJECT_BINARY_DIR}/headers CACHE PATH "Where links to the headers of src are made")
get_filename_component(_tailrace_headers ${TAILRACE_HEADERS} ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})

# tailrace_headers(RESULT NAME): sets RESULT to a folder that has links to the headers of src/NAME, under the paths by
# which they are included, and nothing else. It leaves right links alone: another build may be reading them.
function(tailrace_headers result name)
  string(REPLACE "/" "_" flat ${name})
  set(root ${_tailrace_headers}/${flat})
  file(GLOB wanted CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/src/${name} ${PROJECT_SOURCE_DIR}/src/${name}/*.h
                                                                              ${PROJECT_SOURCE_DIR}/src/${name}/*.hpp)
  file(GLOB there RELATIVE ${root}/${name} ${root}/${name}/*)
  list(REMOVE_ITEM there ${wanted})
  foreach(header IN LISTS there)
    file(REMOVE ${root}/${name}/${header})
  endforeach()
  file(MAKE_DIRECTORY ${root}/${name})
  foreach(header IN LISTS wanted)
    if(NOT EXISTS ${root}/${name}/${header})
      file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/${name}/${header} ${root}/${name}/${header} SYMBOLIC)
    endif()
  endforeach()
  set(${result} ${root} PARENT_SCOPE)
endfunction()

# tailrace_joined(RESULT NAME SOURCE …): sets RESULT to one source that includes all of these. (CMake's own
# UNITY_BUILD makes it in each build folder, where the compiler cache does not find it again.) Without
# TAILRACE_UNITY, sets RESULT to the sources: in presets dev, thread-safety and fuzz each is compiled by itself, and
# has to include what it uses.
function(tailrace_joined result name)
  if(NOT TAILRACE_UNITY)
    set(${result} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  string(REPLACE "/" "_" flat ${name})
  set(source ${_tailrace_headers}/${flat}.cpp)
  # Relative paths: the compiler cache finds what another clone has compiled.
  file(RELATIVE_PATH folder ${_tailrace_headers} ${CMAKE_CURRENT_SOURCE_DIR})
  list(TRANSFORM ARGN REPLACE "(.+)" "#include \"${folder}/\\1\"\n")
  list(JOIN ARGN "" content)
  file(CONFIGURE OUTPUT ${source} CONTENT "${content}" @ONLY)
  set(${result} ${source} PARENT_SCOPE)
endfunction()

add_library(tailrace_flags INTERFACE)
# The compiler collects its garbage from half a gigabyte on (its own limit is 128 MB), a tenth of its time otherwise.
target_compile_options(tailrace_flags INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=524288>)
if(TAILRACE_SANITIZE)
  target_compile_options(tailrace_flags INTERFACE -fsanitize=${TAILRACE_SANITIZE} -fno-omit-frame-pointer
                                                  -fno-sanitize-recover=all)
  # Three checks for undefined behaviour cost up to a third of the compiler's time and find what is found anyway, or
  # not wrong where tailrace runs: who follows a null pointer falls, what lies outside an object the address sanitizer
  # sees, and what peers send is looked at for its alignment before it is used.
  if(TAILRACE_SANITIZE MATCHES "undefined")
    target_compile_options(tailrace_flags INTERFACE -fno-sanitize=null,object-size,alignment)
  endif()
  target_link_options(tailrace_flags INTERFACE -fsanitize=${TAILRACE_SANITIZE})
endif()
# Other compilers warn of other things: that should keep nobody from building.
set(tested OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION MATCHES "^12[.]"
   OR CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION MATCHES "^14[.]")
  set(tested ON)
endif()
option(TAILRACE_WERROR "Take warnings as errors (by default with the compilers of continuous integration)" ${tested})
add_library(tailrace_warnings INTERFACE)
target_compile_options(tailrace_warnings INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
                                                   $<$<BOOL:${TAILRACE_WERROR}>:-Werror>)
# GCC 12 sees overlaps in additions of strings that are not there (GCC bug 105651).
target_compile_options(tailrace_warnings INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>)
# In joined sources (joined_sources) a name of one may hide one of another.
target_compile_options(tailrace_warnings INTERFACE $<$<BOOL:$<TARGET_PROPERTY:TAILRACE_JOINED>>:-Wno-shadow>)
# … and with sanitizers, values that are not set in std::regex, which are (GCC bug 105562).
if(TAILRACE_SANITIZE)
  target_compile_options(tailrace_warnings INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
endif()
