from setuptools import find_packages, setup

NAME = "jarvis_agent"

setup(
    name=NAME,
    version="0.1.0",
    description="Agents of the JARVIS assembly workspace: policies and baselines.",
    license="Apache-2.0",
    maintainer="JARVIS assembly workspace maintainers",
    maintainer_email="maintainers@example.org",
    packages=find_packages(exclude=["test"]),
    package_data={"": ["py.typed", "page.html"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    zip_safe=False,
    entry_points={"console_scripts": ["agent_node = jarvis_agent.ros.agent_node:main"]},
    extras_require={"test": ["pytest"]},
)
