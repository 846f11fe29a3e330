from setuptools import find_packages, setup

NAME = "jarvis_tasks"

setup(
    name=NAME,
    version="0.1.0",
    description="Cuts builds into assembly tasks and stores them.",
    license="Apache-2.0",
    maintainer="JARVIS assembly workspace maintainers",
    maintainer_email="maintainers@example.org",
    packages=find_packages(exclude=["test"]),
    package_data={"": ["py.typed", "*.yaml", "suites/*/*", "suites/*/*/*"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    zip_safe=False,
    extras_require={"test": ["pytest"]},
)
