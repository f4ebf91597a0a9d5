# tailrace_shows(TARGET NAME …): a shared library shows these names, which may have a *, and no others. (The
# compiler's options hide those of tailrace's own sources, but not what templates of the C++ library become in them.)
function(tailrace_shows target)
  list(JOIN ARGN "; " names)
  set(map ${CMAKE_CURRENT_BINARY_DIR}/${target}.map)
  file(CONFIGURE OUTPUT ${map} CONTENT "{ global: ${names}; local: *; };\n")
  target_link_options(${target} PRIVATE -Wl,--version-script,${map} -Wl,--exclude-libs,ALL)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${map})
endfunction()
