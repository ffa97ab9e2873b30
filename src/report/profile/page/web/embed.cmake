# Writes a C++ source with the page's text, style and scripts: run by the build with -DOUT=, and
# -DPAGE=, -DSTYLE= and -DSCRIPTS= (a list; the scripts become one).
function(literal name)
  set(text "")
  foreach(file IN LISTS ARGN)
    file(READ ${file} part)
    string(APPEND text "${part}")
  endforeach()
  # Compilers promise 64 KiB for one literal; neighbours are joined.
  string(LENGTH "${text}" length)
  set(pieces "")
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 8000 piece)
    string(APPEND pieces "R\"margay_web(${piece})margay_web\"\n")
    math(EXPR at "${at} + 8000")
  endwhile()
  set(content "${content}const std::string_view ${name} =\n${pieces};\n" PARENT_SCOPE)
endfunction()

set(content "// Made by web/embed.cmake.\n#include \"report/profile/page/web/files.h\"\n
namespace margay::profile::web {\n")
literal(kPage ${PAGE})
literal(kStyle ${STYLE})
literal(kScript ${SCRIPTS})
string(APPEND content "}  // namespace margay::profile::web\n")
file(WRITE ${OUT} "${content}")
