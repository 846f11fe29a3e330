from setuptools import find_packages, setup

NAME = "jarvis_episode"

setup(
    name=NAME,
    version="0.1.0",
    description="Episodes of the JARVIS assembly workspace: manager, recorder, evaluator, the ground-truth wall.",
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
            "episode_node = jarvis_episode.ros.episode_node:main",
            "perceived_world_node = jarvis_episode.ros.perceived_world_node:main",
            "replay_node = jarvis_episode.ros.replay_node:main",
        ]
    },
    extras_require={"test": ["pytest"]},
)
