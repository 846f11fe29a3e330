from setuptools import find_packages, setup

NAME = "jarvis_bench"

setup(
    name=NAME,
    version="0.1.0",
    description="Running many episodes, comparing them, and pages that show one.",
    license="Apache-2.0",
    maintainer="JARVIS assembly workspace maintainers",
    maintainer_email="maintainers@example.org",
    packages=find_packages(exclude=["test"]),
    package_data={"": ["py.typed", "templates/*"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    zip_safe=False,
    entry_points={"console_scripts": ["report_node = jarvis_bench.ros.report_node:main"]},
    extras_require={"test": ["pytest"]},
)
