from setuptools import find_packages, setup

NAME = "jarvis_skills"

setup(
    name=NAME,
    version="0.1.0",
    description="Manipulation skills of the JARVIS assembly workspace and their action servers.",
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
    entry_points={"console_scripts": ["skill_server = jarvis_skills.ros.skill_server:main"]},
    extras_require={"test": ["pytest"]},
)
