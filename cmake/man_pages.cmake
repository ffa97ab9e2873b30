# Manual pages, in PREFIX/share/man: made from each command's --help when the tool changes.
# man -M $(margay config prefix)/share/man margay-check
find_package(Python3 COMPONENTS Interpreter REQUIRED)
set(margay_man ${PROJECT_BINARY_DIR}/share/man/man1)
add_custom_command(OUTPUT ${margay_man}/margay.1
  COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/man_pages.py $<TARGET_FILE:margay_tool>
    ${PROJECT_VERSION} ${margay_man}
  DEPENDS margay_tool margay_asm_tool margay_gemm margay_fuzz margay_watch ${PROJECT_SOURCE_DIR}/tools/man_pages.py
  COMMENT "Manual pages" VERBATIM)
add_custom_target(margay_man_pages ALL DEPENDS ${margay_man}/margay.1)
margay_product(margay_man_pages)
install(DIRECTORY ${margay_man} DESTINATION share/man)
