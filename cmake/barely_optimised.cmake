# barely_optimised(FILE …): compiles sources of the caller's folder with -O1, because optimising them takes longer
# than they ever run: command lines by CLI11. Not -O0: a program has only one copy of functions defined in headers,
# which may come from these files. Not for files of the library or its server.
function(barely_optimised)
  set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS -O1)
endfunction()
