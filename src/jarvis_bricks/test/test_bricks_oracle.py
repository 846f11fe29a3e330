"""Meshes against an independent reader: ldraw2mesh (MIT), where it is installed."""

from pathlib import Path

import numpy as np
import pytest
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.library import LDrawLibrary
from scipy.spatial import cKDTree

ldraw2mesh = pytest.importorskip(
    "ldraw2mesh", reason="ldraw2mesh, a second reader to compare with, is not installed"
)


def their_triangles(path: Path, library: LDrawLibrary) -> np.ndarray:
    """(m, 3, 3) LDU, LDraw frame."""
    scene = ldraw2mesh.load_scene(path, ldraw_library=library.root, scale=1.0)
    found = []
    for (name, _), placements in scene.geometry_world_transforms.items():
        geometry = scene.geometry_cache[name]
        corners = np.asarray(geometry.vertices)[np.asarray(geometry.vertex_indices).reshape(-1, 3)]
        found += [corners @ m[:3, :3].T + m[:3, 3] for m in np.asarray(placements).reshape(-1, 4, 4)]
    return np.concatenate(found).astype(np.float64)


def measures(triangles: np.ndarray) -> tuple[int, float, float]:
    """Number of triangles with an area, their area, and the signed volume under them."""
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    areas = np.linalg.norm(normals, axis=1) / 2
    volume = np.einsum("ij,ij->i", triangles[:, 0], np.cross(triangles[:, 1], triangles[:, 2])).sum() / 6
    return int((areas > 5e-4).sum()), float(areas.sum()), float(volume)


def middles(triangles: np.ndarray) -> np.ndarray:
    """Of all triangles with an area."""
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    return triangles[np.linalg.norm(normals, axis=1) > 1e-3].mean(axis=1)


def test_the_same_triangles_in_two_hundred_parts(
    library: LDrawLibrary, library_catalogue: PartCatalogue, tmp_path: Path
) -> None:
    path = tmp_path / "one.ldr"
    compared = 0
    for name in library.part_names()[:: max(1, len(library.part_names()) // 260)]:
        section = library.section(f"{name}.dat")
        assert section is not None
        if section.moved_to is not None:
            continue
        compared += 1
        path.write_text(f"1 16 0 0 0 1 0 0 0 1 0 0 0 1 {name}.dat\n")
        theirs, ours = their_triangles(path, library), library_catalogue.flat(section).triangles
        count, area, volume = measures(theirs)
        our_count, our_area, our_volume = measures(ours)
        for first, second in ((ours, theirs), (theirs, ours)):
            if count:
                gaps, _ = cKDTree(middles(first)).query(middles(second))
                assert gaps.max() < 0.02, name
        assert our_count == count, name
        assert our_area == pytest.approx(area, rel=1e-3), name
        # Winding: a face turned inside out changes the volume by twice its share.
        assert our_volume == pytest.approx(volume, rel=2e-3, abs=1.0), name
    assert compared >= 200
