"""Unpacking the runtime tree, and pointing the generators at this machine's headers."""

import zipfile
from pathlib import Path

from bootstrap import ros_pip, rosidl_env


def test_only_the_tree_is_unpacked_without_its_openssl(tmp_path: Path) -> None:
    wheel = tmp_path / "x.whl"
    inside = ros_pip.FOLDER_IN_WHEEL
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("isaacsim/other.txt", "no")
        archive.writestr(ros_pip.LICENCE_IN_WHEEL, "terms")
        archive.writestr(inside + "rclpy/rclpy/__init__.py", "yes")
        for name in ("librcl.so", "libssl.so.3", "libcrypto.so.3", "libcrypto.so"):
            archive.writestr(inside + "lib/" + name, "")
    ros_pip.unpack(wheel, tmp_path / "tree")
    found = sorted(
        str(p.relative_to(tmp_path / "tree")) for p in (tmp_path / "tree").rglob("*") if p.is_file()
    )
    assert found == ["NVIDIA-LICENSE.txt", "lib/librcl.so", "rclpy/rclpy/__init__.py"]


def test_file_modes_survive(tmp_path: Path) -> None:
    wheel = tmp_path / "x.whl"
    entry = zipfile.ZipInfo(ros_pip.FOLDER_IN_WHEEL + "lib/program")
    entry.external_attr = 0o755 << 16
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(entry, "")
        archive.writestr(ros_pip.LICENCE_IN_WHEEL, "terms")
    ros_pip.unpack(wheel, tmp_path / "tree")
    assert (tmp_path / "tree/lib/program").stat().st_mode & 0o777 == 0o755


def test_exported_cmake_files_name_local_headers(tmp_path: Path) -> None:
    path = tmp_path / "share/std_msgs/cmake/exportExport.cmake"
    path.parent.mkdir(parents=True)
    path.write_text(f"{rosidl_env.FOREIGN_PYTHON_HEADERS};{rosidl_env.FOREIGN_NUMPY_HEADERS};/keep")
    rosidl_env.point_to_local_headers(tmp_path, Path("/py"), Path("/np"))
    assert path.read_text() == "/py;/np;/keep"
