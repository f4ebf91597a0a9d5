"""Every utility of OpenFOAM that writes, in a small case: what it needs, and how it is called."""

import dataclasses
import gzip
import pathlib
import shlex
import shutil

from openfoam import cases

PARALLEL = ["mpiexec.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", "2"]
CAVITY = "incompressible/icoFoam/cavity/cavity"
DAM_BREAK = "multiphase/interFoam/laminar/damBreak/damBreak"
PITZ_DAILY = "incompressible/simpleFoam/pitzDaily"


@dataclasses.dataclass(frozen=True)
class Recipe:
    """A case and the programs that are compared, one after another. A program that runs twice is listed twice.

    The words `-parallel` at the end make two processes of a program."""

    tutorial: str
    programs: tuple[str, ...]
    before: tuple[str, ...] = ("blockMesh",)  # run without tailrace
    files: tuple[tuple[str, str], ...] = ()  # what is added to the case
    copies: tuple[tuple[str, str], ...] = ()  # of files or folders of other tutorials, or of the case itself
    control: tuple[tuple[str, str], ...] = ()  # entries of the controlDict
    free: str = ""  # a pattern of texts in files that differ from run to run
    quick: bool = False


def words_of(line):
    """Returns the words of a command; quotes keep some together, as in a shell."""
    words = shlex.split(line)
    return PARALLEL + words if words[-1] == "-parallel" else words


def program_of(line):
    return line.split()[0]


def make(recipe, folder):
    """Makes the case."""
    shutil.copytree(cases.TUTORIALS / recipe.tutorial, folder)
    for path in [folder, *folder.rglob("*")]:
        path.chmod(path.stat().st_mode | 0o200)
    if not (folder / "0").exists() and (folder / "0.orig").exists():
        shutil.copytree(folder / "0.orig", folder / "0")
    cases.change(folder, **dict(recipe.control))
    for name, text in recipe.files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for source, target in recipe.copies:
        path = folder / target
        path.parent.mkdir(parents=True, exist_ok=True)
        source = folder / source[2:] if source.startswith("./") else cases.TUTORIALS / source
        (shutil.copytree if source.is_dir() else shutil.copy)(source, path)
    for path in folder.rglob("*.gz"):
        path.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))
        path.unlink()
    for line in recipe.before:
        cases.must(words_of(line), folder)


def _dictionary(name, text, kind="dictionary"):
    return f"FoamFile {{ version 2.0; format ascii; class {kind}; object {pathlib.Path(name).name}; }}\n{text}\n"


def _dictionaries(**texts):
    return tuple((f"system/{name}", _dictionary(name, text)) for name, text in texts.items())


_SETS = _dictionaries(topoSetDict="""
actions
(
  { name none; type faceSet; action new; source boxToFace; box (9 9 9) (10 10 10); }
  { name c0; type cellSet; action new; source boxToCell; box (0 0 -1) (0.05 0.05 1); }
  { name c1; type cellSet; action new; source cellToCell; set c0; }
  { name c1; type cellSet; action invert; }
  { name f0; type faceSet; action new; source cellToFace; set c0; option both; }
  { name z0; type cellZoneSet; action new; source setToCellZone; set c0; }
  { name z1; type cellZoneSet; action new; source setToCellZone; set c1; }
  { name inner; type faceSet; action new; source cellToFace; set c0; option all; }
  { name outer; type faceSet; action new; source cellToFace; set c1; option all; }
  { name inner; type faceSet; action subset; source faceToFace; set outer; }
  { name fz; type faceZoneSet; action new; source setsToFaceZone; faceSet inner; cellSet c0; }
  { name p0; type pointSet; action new; source boxToPoint; box (0 0 -1) (0.05 0.05 1); }
);""")
_DECOMPOSE = _dictionaries(
    decomposeParDict="numberOfSubdomains 2; method simple; simpleCoeffs { n (2 1 1); delta 0.001; }")
_MESHED = ("blockMesh", "topoSet")
_TWO_TIMES = (("endTime", "0.01"), ("deltaT", "0.005"), ("writeInterval", "1"))


_LID = _dictionaries(createPatchDict="""
pointSync false;
patches ( { name lid; patchInfo { type wall; } constructFrom patches; patches (movingWall); } );""")
_TWO_PATCHES = _dictionaries(createPatchDict="""
pointSync false;
patches ( { name one; patchInfo { type wall; } constructFrom set; set none; }
          { name two; patchInfo { type wall; } constructFrom set; set none; } );""")
_BAFFLES = _dictionaries(createBafflesDict="""
internalFacesOnly true;
baffles { b { type faceZone; zoneName fz; patches { master { name m; type wall; } slave { name s; type wall; } } } }
""")
_EXTRUDE = _dictionaries(extrudeMeshDict="""
constructFrom patch; sourceCase "."; sourcePatches (movingWall); exposedPatchName fixedWalls; flipNormals false;
extrudeModel linearNormal; nLayers 2; expansionRatio 1; linearNormalCoeffs { thickness 0.01; } mergeFaces false;""")
_FILM = _dictionaries(extrudeToRegionMeshDict="""
region film; faceZones (); patches (movingWall); oneD false; extrudeModel linearNormal; nLayers 1; expansionRatio 1;
adaptMesh true; patchType mappedWall; linearNormalCoeffs { thickness 0.01; } sampleMode nearestPatchFace;""")
_MIRROR = _dictionaries(mirrorMeshDict="""
planeType pointAndNormal; pointAndNormalDict { point (0 0 0); normal (0 1 0); } planeTolerance 1e-3;""")
_MODIFY = _dictionaries(modifyMeshDict="""
facesToTriangulate (); facesToSplit (); edgesToSplit (); pointsToMove (((0.1 0.1 0) (0.101 0.101 0)));
cellsToPyramidDecompose (); edgesToCollapse (); cellsToSplit (); boundaryEdges ();""")
_TRACKS = (("constant/particleTrackProperties", _dictionary(
    "particleTrackProperties", "cloud reactingCloud1; sampleFrequency 1; maxPositions 100; setFormat vtk;")),)
_SELECT = _dictionaries(selectCellsDict="""
surface "walls.stl"; outsidePoints ((0.05 0.05 0.005)); useSurface true; selectCut true; selectInside true;
selectOutside false; nearDistance -1; curvature -1; nCutLayers 0; selectedSet sel;""")

# Small meshes of other programs.
_GMSH = """$MeshFormat
2.2 0 8
$EndMeshFormat
$Nodes
8
1 0 0 0
2 1 0 0
3 1 1 0
4 0 1 0
5 0 0 1
6 1 0 1
7 1 1 1
8 0 1 1
$EndNodes
$Elements
1
1 5 2 1 1 1 2 3 4 5 6 7 8
$EndElements
"""

RECIPES = {
    # meshes
    "sets": Recipe(CAVITY, (
        "blockMesh", "checkMesh -allGeometry -allTopology -writeAllFields", "topoSet", "setsToZones -noFlipMap",
        "checkMesh -writeSets vtk", "setSet -batch batch", "renumberMesh", "subsetMesh c0 -overwrite"),
        before=(), files=(*_SETS, ("batch", "cellSet c9 new boxToCell (0 0 -1) (0.03 0.03 1)\nquit\n")), quick=True),
    "subset": Recipe(CAVITY, ("subsetMesh c0", "renumberMesh -overwrite"), _MESHED, _SETS),
    "transform": Recipe(CAVITY, (
        "transformPoints -scale '(2 2 2)'", "rotateMesh '(1 0 0)' '(0 1 0)'", "flattenMesh", "mirrorMesh",
        "mirrorMesh -overwrite"), ("blockMesh", "icoFoam"), _MIRROR, control=_TWO_TIMES),
    "deform": Recipe(CAVITY, ("deformedGeom 1.0", "singleCellMesh"), ("blockMesh", "icoFoam"), control=_TWO_TIMES),
    "refine": Recipe(CAVITY, ("refineMesh", "refineMesh -overwrite", "refinementLevel", "writeMeshObj", "zipUpMesh"),
                     quick=True),
    "refineSet": Recipe(CAVITY, ("refineHexMesh c0", "refineHexMesh c0 -overwrite"), _MESHED, _SETS),
    "refineWall": Recipe(CAVITY, ("refineWallLayer '(movingWall)' 0.5",
                                  "refineWallLayer -overwrite '(fixedWalls)' 0.5", "splitCells 170")),
    "patches": Recipe(CAVITY, ("createPatch", "createPatch -overwrite", "autoPatch 60 -overwrite", "autoPatch 60",
                               "combinePatchFaces 10"), _MESHED, (*_SETS, *_LID), quick=True),
    "baffles": Recipe(CAVITY, ("createBaffles", "createBaffles -overwrite", "mergeOrSplitBaffles",
                               "mergeOrSplitBaffles -overwrite"), _MESHED, (*_SETS, *_BAFFLES)),
    "regions": Recipe(CAVITY, ("splitMeshRegions -cellZones", "splitMeshRegions -cellZones -overwrite"), _MESHED,
                      _SETS, quick=True),
    "faces": Recipe(CAVITY, ("orientFaceZone fz '(1 1 1)'", "removeFaces inner", "removeFaces inner -overwrite"),
                    _MESHED, _SETS),
    "split": Recipe(CAVITY, ("createPatch -overwrite", "setSet -batch batch", "splitMesh inner one two"),
                    ("blockMesh", "setSet -batch batch"), (*_TWO_PATCHES, ("batch", (
                        "faceSet none new boxToFace (9 9 9) (10 10 10)\n"
                        "faceSet inner new boxToFace (0.0499 -1 -1) (0.0501 1 1)\nquit\n")))),
    "merge": Recipe(CAVITY, ("mergeMeshes . other", "mergeMeshes -overwrite . other"),
                    ("blockMesh", "blockMesh -case other"), copies=((CAVITY, "other"),)),
    "stitch": Recipe("mesh/stitchMesh/simple-cube1", (
        "subsetMesh final -patch outer -resultTime 0", "topoSet -dict system/topoSetDict.patches",
        "createPatch -overwrite", "stitchMesh", "stitchMesh -overwrite"), ("blockMesh", "topoSet")),
    "dual": Recipe(CAVITY, ("polyDualMesh 45",)),
    "dualOver": Recipe(CAVITY, ("polyDualMesh 45 -overwrite",)),
    "collapse": Recipe(CAVITY, ("collapseEdges", "collapseEdges -overwrite"), files=_dictionaries(
        collapseDict="collapseEdgesCoeffs { minimumEdgeLength 1e-6; maximumMergeAngle 180; }")),
    "extrude": Recipe(CAVITY, ("extrudeMesh",), files=_EXTRUDE),
    "extrudeRegion": Recipe(CAVITY, ("extrudeToRegionMesh", "extrudeToRegionMesh -overwrite"), files=_FILM),
    "attach": Recipe(CAVITY, ("attachMesh", "attachMesh -overwrite")),
    "modify": Recipe(CAVITY, ("modifyMesh", "modifyMesh -overwrite"), files=_MODIFY),
    "move": Recipe("incompressible/pimpleFoam/laminar/movingCone", ("moveDynamicMesh", "moveMesh"),
                   control=(("endTime", "6e-5"), ("writeInterval", "4"))),
    "insides": Recipe(CAVITY, ("insideCells walls.stl inside", "selectCells"),
                      ("blockMesh", "surfaceMeshExtract walls.stl"), _SELECT),
    "pdr": Recipe("mesh/PDRblockMesh/box0", ("PDRblockMesh",), ()),
    "snappy": Recipe("mesh/snappyHexMesh/addLayersToFaceZone", ("snappyHexMesh",)),
    # fields
    "alpha": Recipe(DAM_BREAK, (
        "setFields", "foamFormatConvert", "foamDictionary 0/U -entry internalField -set 'uniform (1 0 0)'",
        "foamDictionary system/controlDict -entry deltaT -set 0.002", "foamListTimes -rm"), quick=True),
    "isoAlpha": Recipe("multiphase/interIsoFoam/discInConstantFlow", ("setAlphaField",)),
    "expressions": Recipe("compressible/rhoPimpleFoam/RAS/TJunctionAverage",
                          ("setExprFields", "setExprBoundaryFields")),
    "change": Recipe(CAVITY, ("changeDictionary", "foamUpgradeCyclics", "foamFormatConvert -noConstant"),
                     files=_dictionaries(changeDictionaryDict="U { internalField uniform (1 0 0); }"), quick=True),
    "map": Recipe(CAVITY, ("mapFields other -consistent", "mapFieldsPar other -consistent"),
                  ("blockMesh", "blockMesh -case other"), copies=((CAVITY, "other"), (f"{CAVITY}/0", "other/0.1")),
                  quick=True),
    "times": Recipe(CAVITY, (
        "icoFoam", "temporalInterpolate -fields '(U)' -divisions 2", "foamFormatConvert", "patchSummary",
        "postProcess -func 'mag(U)'", "postProcess -func writeCellVolumes", "foamToVTK", "foamToEnsight",
        "foamToEnsightParts", "foamListTimes -rm"), control=_TWO_TIMES),
    "restore": Recipe(CAVITY, ("foamRestoreFields",), copies=(("./0", "0.orig"),)),
    "turbulence": Recipe("DNS/dnsFoam/boxTurb16", ("boxTurb",)),
    "boxTurbulence": Recipe("incompressible/pimpleFoam/LES/decayIsoTurb",
                            ("createBoxTurb -createBlockMesh", "blockMesh", "createBoxTurb"), ()),
    "layer": Recipe(PITZ_DAILY, ("applyBoundaryLayer -ybl 0.001", "simpleFoam", "postProcess -func yPlus"),
                    control=(("endTime", "2"), ("writeInterval", "1"))),
    "channel": Recipe("incompressible/pimpleFoam/LES/channel395", ("postChannel",), control=(("endTime", "0"),)),
    "molecules": Recipe("discreteMethods/molecularDynamics/mdEquilibrationFoam/periodicCubeArgon", ("mdInitialise",),
                        free=r"-?[0-9][0-9.e+-]*"),  # velocities by the clock
    "particles": Recipe("discreteMethods/dsmcFoam/freeSpacePeriodic", ("dsmcInitialise", "dsmcFoam"),
                        control=(("endTime", "2e-6"), ("writeInterval", "1e-6"))),
    "parcels": Recipe("lagrangian/reactingParcelFoam/parcelInBox", ("reactingParcelFoam", "particleTracks"),
                      files=_TRACKS, control=(("endTime", "0.03"), ("writeInterval", "0.01"))),
    "views": Recipe("heatTransfer/chtMultiRegionSimpleFoam/multiRegionHeaterRadiation", (
        "topoSet", "splitMeshRegions -cellZones -overwrite", "changeDictionary -region bottomAir",
        "faceAgglomerate -region bottomAir -dict constant/viewFactorsDict", "viewFactorsGen -region bottomAir")),
    "films": Recipe("finiteArea/surfactantFoam/planeTransport", ("makeFaMesh", "checkFaMesh")),
    "flame": Recipe("combustion/PDRFoam/flamePropagationWithObstacles",
                    ("changeDictionary", "topoSet", "PDRMesh -overwrite")),
    "lattice": Recipe("combustion/PDRFoam/pipeLattice", ("PDRblockMesh", "PDRsetFields"), ()),
    "lumped": Recipe("incompressible/lumpedPointMotion/building/steady", (
        "blockMesh", "lumpedPointZones", "lumpedPointMovement -span 25 -scale 1 files/response.txt"), (),
        copies=(("incompressible/lumpedPointMotion/building/files", "files"),)),
    "chemistry": Recipe("combustion/chemFoam/gri", (
        "chemkinToFoam chemkin/chem.inp chemkin/therm.dat chemkin/transportProperties constant/r constant/t",), ()),
    "coupled": Recipe(CAVITY, ("createExternalCoupledPatchGeometry movingWall",)),
    # decomposed cases
    "decomposed": Recipe(CAVITY, (
        "decomposePar", "renumberMesh -overwrite -parallel", "icoFoam -parallel", "reconstructPar",
        "foamFormatConvert -parallel", "reconstructPar -newTimes", "decomposePar -force",
        "decomposePar -fields -time 0:"),
        files=_DECOMPOSE, control=_TWO_TIMES, quick=True),
    "decomposedSets": Recipe(CAVITY, (
        "topoSet -parallel", "refineMesh -overwrite -parallel", "reconstructParMesh -constant -mergeTol 1e-5",
        "createPatch -overwrite -parallel"), ("blockMesh", "decomposePar"), (*_DECOMPOSE, *_SETS, *_LID)),
    "refinedTimes": Recipe(CAVITY, ("refineMesh -parallel", "reconstructParMesh -mergeTol 1e-5"),
                           ("blockMesh", "decomposePar"), _DECOMPOSE, control=(("deltaT", "1"),)),
    "redistributed": Recipe(DAM_BREAK, (
        "redistributePar -decompose -parallel", "interFoam -parallel", "redistributePar -reconstruct -parallel",
        "redistributePar -overwrite -latestTime -parallel"), ("blockMesh", "setFields"), _DECOMPOSE,
        control=(("endTime", "0.01"), ("writeInterval", "0.005")), quick=True),
    "mapPar": Recipe(CAVITY, ("mapFieldsPar other -consistent -parallel",),
                     ("blockMesh", "decomposePar", "blockMesh -case other", "decomposePar -case other"), _DECOMPOSE,
                     copies=((CAVITY, "other"), ("./system/decomposeParDict", "other/system/decomposeParDict"))),
    # other formats
    "fluent": Recipe("incompressible/icoFoam/elbow", (
        "fluentMeshToFoam elbow.msh", "icoFoam", "foamMeshToFluent", "foamDataToFluent"), (),
        control=(("endTime", "0.1"), ("writeInterval", "1"))),
    "fluent3D": Recipe(CAVITY, ("fluent3DMeshToFoam fluentInterface/case.msh",), ("blockMesh", "foamMeshToFluent")),
    "star": Recipe(CAVITY, ("foamToStarMesh", "star4ToFoam meshExport")),
    "foil": Recipe(CAVITY, ("star4ToFoam foil/nacaAirfoil",), (),
                   copies=(("resources/geometry/nacaAirfoil", "foil"),)),
    "fire": Recipe(CAVITY, ("foamToFireMesh",)),
    "vtk": Recipe(CAVITY, ("vtkUnstructuredToFoam VTK/case_0.vtk",),
                  ("blockMesh", "foamToVTK -legacy -ascii -no-boundary")),
    "gmsh": Recipe(CAVITY, ("gmshToFoam cube.msh",), (), (("cube.msh", _GMSH),)),
    "tetgen": Recipe(CAVITY, ("tetgenToFoam -noFaceFile tet",), (), (
        ("tet.node", "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"), ("tet.ele", "1 4 0\n1 1 2 3 4\n"))),
    "netgen": Recipe(CAVITY, ("netgenNeutralToFoam tet.mesh",), (), (
        ("tet.mesh", "4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1\n1 1 2 3 4\n4\n1 1 3 2\n1 1 2 4\n1 2 3 4\n1 1 4 3\n"),)),
    "plot3d": Recipe(CAVITY, ("plot3dToFoam -noBlank cube.fmt",), (), (
        ("cube.fmt", "1\n2 2 2\n0 1 0 1 0 1 0 1\n0 0 1 1 0 0 1 1\n0 0 0 0 1 1 1 1\n"),)),
    "kiva": Recipe("combustion/XiEngineFoam/kivaTest", (
        "kivaToFoam -file otape17", "foamDictionary constant/engineGeometry -entry swirlAxis -add '(0 0 1)'",
        "foamDictionary constant/engineGeometry -entry swirlCenter -add '(0 0 0)'",
        "foamDictionary constant/engineGeometry -entry swirlRPMRatio -add 2",
        "foamDictionary constant/engineGeometry -entry swirlProfile -add 3", "engineSwirl"), ()),
    "surfaces": Recipe(CAVITY, (
        "foamToSurface walls.stl", "surfaceMeshExtract walls2.stl",
        "surfaceTransformPoints -scale '(2 2 2)' walls.stl big.stl", "surfaceConvert walls.stl walls.obj",
        "surfaceCheck walls.stl", "surfaceInertia walls.stl", "surfaceOrient walls.stl '(9 9 9)' out.stl",
        "surfaceAdd walls.stl big.stl both.stl", "surfaceClean walls.stl 1e-9 1e-9 clean.stl",
        "surfaceCoarsen walls.stl 0.5 coarse.stl", "surfaceFind -x 0 -y 0 -z 0 walls.stl",
        "surfacePointMerge walls.stl 1e-9 merged.stl", "surfaceRefineRedGreen walls.stl fine.stl",
        "surfaceSplitByPatch walls.stl", "surfaceLambdaMuSmooth walls.stl 0.5 0.5 2 smooth.stl",
        "surfaceMeshConvert walls.stl m.stl", "surfaceMeshImport -name s walls.stl",
        "surfaceMeshExport -name s e.stl",
        "surfaceSplitNonManifolds walls.stl split.stl", "surfaceSplitByTopology walls.stl topo.stl"),
        free=r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"),
}

_READS = "writes no file"
_ADMINISTRATOR = "compiles code of the case, which OpenFOAM refuses to administrators"
_FOREIGN = "needs a mesh of another program; writes it as the others do, by polyMesh"
_RUN = "needs the results of a long run"
_SURFACE = "writes surfaces as the others do"

# Utilities that no recipe runs.
NOT_RUN = {
    **dict.fromkeys(["adiabaticFlameT", "equilibriumCO", "equilibriumFlameT", "mixtureAdiabaticFlameT", "foamHelp",
                     "foamListRegions", "surfaceMeshInfo", "pdfPlot"], _READS),
    **dict.fromkeys(["engineCompRatio", "moveEngineMesh"], _ADMINISTRATOR),
    **dict.fromkeys(["ansysToFoam", "cfx4ToFoam", "datToFoam", "gambitToFoam", "ideasUnvToFoam", "mshToFoam",
                     "smapToFoam", "fireToFoam", "foamToTetDualMesh", "extrude2DMesh"], _FOREIGN),
    **dict.fromkeys(["computeSensitivities", "cumulativeDisplacement", "writeActiveDesignVariables",
                     "writeMorpherCPs", "noise", "steadyParticleTracks", "lumpedPointForces"], _RUN),
    **dict.fromkeys(["surfaceBooleanFeatures", "surfaceFeatureConvert", "surfaceFeatureExtract", "surfaceHookUp",
                     "surfaceInflate", "surfacePatch", "surfaceRedistributePar", "surfaceSubset", "surfaceToPatch",
                     "objToVTK"], _SURFACE),
    "createZeroDirectory": "needs templates that Debian's package has elsewhere",
    "foamToGMV": "fails without dictionaries that no tutorial has",
    "snappyRefineMesh": "fails without dictionaries that no tutorial has",
    "profilingSummary": "writes how long the run took",
    "wallFunctionTable": "divides by zero",
}
