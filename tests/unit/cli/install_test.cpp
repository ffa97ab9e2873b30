// Where the parts of an installation are: in a build tree, and in the Python wheel.
#include "cli/process/install.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "cli/process/temporary_directory.h"

namespace margay::cli {
namespace {

TEST(Install, FindsThePackageInTheWheel) {
  const auto folder = TemporaryDirectory::create();
  ASSERT_TRUE(folder);
  const std::filesystem::path package = folder->path() / "site-packages" / "margay";
  std::filesystem::create_directories(package / "_home");
  const Install install{package / "_home"};
  EXPECT_FALSE(install.in_python_package());
  EXPECT_EQ(install.python(), package / "_home/lib/margay/python");
  EXPECT_EQ(install.repair(), "./margay build");

  std::ofstream(package / "installation.py") << "";
  EXPECT_TRUE(install.in_python_package());
  EXPECT_EQ(install.python(), folder->path() / "site-packages");
  EXPECT_EQ(install.repair(), "pip install --force-reinstall margay");
}

}  // namespace
}  // namespace margay::cli
