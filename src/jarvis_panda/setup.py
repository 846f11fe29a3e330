from setuptools import find_packages, setup

NAME = "jarvis_panda"

setup(
    name=NAME,
    version="0.1.0",
    description="A real Panda behind the names of the simulated one: limits, emergency stop, gripper, calibration.",
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
    entry_points={
        "console_scripts": [
            "capture = jarvis_panda.ros.capture:main",
            "panda_adapter = jarvis_panda.ros.adapter:main",
        ]
    },
    extras_require={"test": ["pytest"]},
)
