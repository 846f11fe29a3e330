from setuptools import find_packages, setup

NAME = "jarvis_sim"

setup(
    name=NAME,
    version="0.1.0",
    description="Embedded simulator of the JARVIS assembly workspace: engine, bricks, arm, cameras.",
    license="Apache-2.0",
    maintainer="JARVIS assembly workspace maintainers",
    maintainer_email="maintainers@example.org",
    packages=find_packages(exclude=["test"]),
    package_data={"": ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    zip_safe=False,
    entry_points={"console_scripts": ["sim_node = jarvis_sim.ros.sim_node:main"]},
    extras_require={"test": ["pytest"]},
)
