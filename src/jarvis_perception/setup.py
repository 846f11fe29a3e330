from setuptools import find_packages, setup

NAME = "jarvis_perception"

setup(
    name=NAME,
    version="0.1.0",
    description="From the top RGB-D camera to bricks with poses.",
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
    entry_points={"console_scripts": ["perception_node = jarvis_perception.ros.perception_node:main"]},
    extras_require={"test": ["pytest"]},
)
