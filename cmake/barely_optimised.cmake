# barely_optimised(FILE …): of the caller's folder, sources that take longer to optimise than what is in them ever
# runs: command lines by CLI11. A program has one copy only of what headers define, and it may be theirs: so not -O0,
# and for nothing that belongs to the library or to its server.
function(barely_optimised)
  set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS -O1)
endfunction()
