// Reading of bathymetry: both orders of the header, all ways to give the position of the grid, and every mistake with
// file, line, found and expected.
#include <gtest/gtest.h>

#include "error.hpp"
#include "esri_grid.hpp"

namespace tsunami {
namespace {

const std::string heights = "4 5 6\n1 2 3\n";

TEST(EsriGrid, ReadsNameThenValue) {
  const Raster r = parse_esri_grid("ncols 3\nnrows 2\nxllcenter 10\nyllcenter -5\ncellsize 0.5\n" + heights, "f");
  EXPECT_EQ(r.nx, 3u);
  EXPECT_EQ(r.ny, 2u);
  EXPECT_EQ(r.x0, 10);
  EXPECT_EQ(r.y0, -5);
  EXPECT_EQ(r.dx, 0.5);
  EXPECT_EQ(r.z, (std::vector<double>{1, 2, 3, 4, 5, 6})) << "row 0 is the southernmost";
}

TEST(EsriGrid, ReadsValueThenName) {
  const Raster r =
      parse_esri_grid("3 ncols\n2 nrows\n10 xll\n-5 yll\n0.5 cellsize\n-9999 NODATA_value\n" + heights, "f");
  EXPECT_EQ(r.x0, 10);
  EXPECT_EQ(r.z, (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

TEST(EsriGrid, CornersAreHalfACellOff) {
  const Raster r = parse_esri_grid("NCOLS 3\nNROWS 2\nXLLCORNER 10\nYLLCORNER -5\nCELLSIZE 0.5\n" + heights, "f");
  EXPECT_EQ(r.x0, 10.25);
  EXPECT_EQ(r.y0, -4.75);
}

TEST(EsriGrid, LinesAndCarriageReturnsDoNotMatter) {
  const Raster r = parse_esri_grid("ncols 3 nrows 2\r\nxll 0 yll 0 cellsize 1\r\n4\r\n5\r\n6 1 2\r\n+3.0e0\r\n", "f");
  EXPECT_EQ(r.z, (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

std::string complaint(const std::string& text) {
  try {
    parse_esri_grid(text, "sea.asc");
  } catch (const Error& error) {
    return error.what();
  }
  return "(accepted)";
}

TEST(EsriGrid, MistakesAreNamed) {
  const std::string good = "ncols 3\nnrows 2\nxll 0\nyll 0\ncellsize 1\n";
  EXPECT_EQ(complaint(""),
            "sea.asc:1: found the end of the file, expected one of ncols, nrows, xll, yll, xllcorner, "
            "yllcorner, xllcenter, yllcenter, xlower, ylower, cellsize, nodata_value");
  EXPECT_EQ(complaint("ncols 3\nnrow 2\n").substr(0, 46), "sea.asc:2: found 'nrow', expected one of ncols");
  EXPECT_EQ(complaint("ncols three\n"), "sea.asc:1: found 'three', expected a number for ncols");
  EXPECT_EQ(complaint("ncols 3\nncols 3\n"), "sea.asc:2: found 'ncols', expected each header entry once");
  EXPECT_EQ(complaint("ncols 3.5\nnrows 2\nxll 0\nyll 0\ncellsize 1\n" + heights),
            "sea.asc:1: found ncols = 3.5, expected a whole number from 2 to 1000000");
  EXPECT_EQ(complaint("ncols 3\nnrows 2\nxll 0\nyll 0\n" + heights),
            "sea.asc:5: found the first height, expected the header entry 'cellsize' before it");
  EXPECT_EQ(complaint("ncols 3\nnrows 2\nyll 0\ncellsize 1\n" + heights),
            "sea.asc:5: found the first height, expected the header entry 'xllcorner' or 'xllcenter' before it");
  EXPECT_EQ(complaint("ncols 3\nnrows 2\nxll 0\nyll 0\ncellsize -1\n" + heights),
            "sea.asc:5: found cellsize = -1, expected a positive number");
  EXPECT_EQ(complaint(good + "4 5 6\n1 two 3\n"),
            "sea.asc:7: found 'two', expected a number: the height of row 2, column 2 of 2 rows x 3 columns");
  EXPECT_EQ(complaint(good + "4 5 6\n1 nan 3\n"),
            "sea.asc:7: found 'nan', expected a number: the height of row 2, column 2 of 2 rows x 3 columns");
  EXPECT_EQ(complaint(good + "4 5 6\n1 2"),
            "sea.asc:7: found the end of the file, expected a number: the height of "
            "row 2, column 3 of 2 rows x 3 columns");
  EXPECT_EQ(complaint(good + heights + "7\n"),
            "sea.asc:8: found '7', expected the end of the file after all of 2 rows x 3 columns");
  EXPECT_EQ(
      complaint(good + "nodata_value -1\n4 5 6\n1 -1 3\n"),
      "sea.asc:8: found '-1', expected a height for row 2, column 2: this is nodata_value, and the sea floor must "
      "be known");
}

// Found by fuzzing: a header of 60 bytes took 2 GiB of memory.
TEST(EsriGrid, MemoryIsTakenForHeightsThatAreThere) {
  EXPECT_EQ(complaint("ncols 16384\nnrows 16384\nxll 0\nyll 0\ncellsize 1\n1 2 3\n"),
            "sea.asc:7: found the end of the file, expected a number: the height of row 1, column 4 of 16384 rows x "
            "16384 columns");
}

// Found by fuzzing: points with equal coordinates, or none.
TEST(EsriGrid, PointsHaveCoordinatesOfTheirOwn) {
  const std::string expected =
      "sea.asc: found a grid whose points have no finite coordinates of their own, expected a larger cellsize or a "
      "smaller origin";
  EXPECT_EQ(complaint("ncols 3\nnrows 2\nxll 1e300\nyll 0\ncellsize 1\n" + heights), expected);
  EXPECT_EQ(complaint("ncols 3\nnrows 2\nxll 0\nyllcorner 1.7e308\ncellsize 1.7e308\n" + heights), expected);
}

TEST(EsriGrid, MissingFileIsNamed) {
  try {
    read_esri_grid("no/such.asc");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "cannot open the bathymetry 'no/such.asc': No such file or directory");
  }
}

TEST(Raster, RefinementKeepsPointsAndInterpolates) {
  const Raster coarse{2, 2, 0, 0, 1, 1, {0, 4, 8, 16}};
  const Raster fine = refine(coarse, 2);
  EXPECT_EQ(fine.dx, 0.5);
  EXPECT_EQ(fine.z, (std::vector<double>{0, 2, 4, 4, 7, 10, 8, 12, 16}));
}

TEST(Raster, CropKeepsTheEdges) {
  Raster whole{10, 10, 0, 0, 0.1, 0.1, std::vector<double>(100, 0.0)};
  whole.at(3, 4) = 7;
  const Raster part = crop(whole, {0.3, 0.7, 0.4, 0.8});
  EXPECT_EQ(part.nx, 5u);
  EXPECT_EQ(part.ny, 5u);
  EXPECT_EQ(part.z[0], 7);
  EXPECT_THROW(crop(whole, {0.3, 0.5, 0, 1}), Error);
}

}  // namespace
}  // namespace tsunami
