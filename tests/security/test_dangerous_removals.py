"""In bypassPermissions, too, a person is asked before the system, the home folder or a device is destroyed."""

from __future__ import annotations

import pytest
from tests.security.fuzz.deciding import Decider, RuleSet
from tests.security.fuzz.world import World, make_world

BYPASS = RuleSet("bypass", lambda _: True, mode="bypassPermissions")
DANGEROUS = """
rm -rf /
find / -exec rm -rf {} +
find / -type f -exec rm {} \\;
find / -delete
find ~ -name x -exec rm -rf {} +
find / -name x -execdir rm -rf {} \\;
find / -exec sh -c 'rm -rf "$@"' _ {} +
find / -exec sh -c 'rm -rf {}' \\;
find / -exec sudo rm -rf {} +
find . -exec rm -rf {} +
find / -exec chmod 777 {} +
bash -c 'find / -exec rm -rf {} +'
cd / && find . -exec rm {} +
fd . / -x rm
fd . / | xargs rm
xargs rm -rf <<< /
xargs -I{} rm -rf {} <<< ~
xargs -n1 rm -rf <<< "/ ~"
echo / | xargs rm -rf
echo ~ | xargs rm -rf
echo /* | xargs rm -rf
ls -d /* | xargs rm -rf
printf '%s\\n' / | xargs rm -rf
echo / | sudo xargs rm -rf
find / -print0 | xargs -0 rm -rf
find / -type f | grep x | xargs rm -f
find ~ | while read f; do rm -rf "$f"; done
find / | xargs -I{} sh -c 'rm -rf {}'
find / | parallel rm -rf
find / | xargs chmod 777
mkfs.ext4 /dev/sda1
mkfs -t ext4 /dev/sda1
/sbin/mkfs.ext4 -L x /dev/sda1
sudo mkfs.ext4 /dev/sda
mke2fs /dev/sda
wipefs -a /dev/sda
blkdiscard /dev/sda
dd if=/dev/zero of=/dev/sda
dd if=/dev/zero of=/dev/sd*
shred -n 1 -z /dev/nvme0n1
chmod -R 777 /
chmod -R 777 ~
sudo chown -R me:me /
chown -R me ~
fdisk /dev/sda
sfdisk /dev/sda < x
sudo parted -s /dev/sda mklabel gpt
sgdisk --zap-all /dev/nvme0n1
pvcreate /dev/sda
cryptsetup luksFormat /dev/sda
dcfldd of=/dev/sda
diskutil eraseDisk JHFS+ x disk2
rm -rf $(pwd)
rm -rf `pwd`
rm -rf "$(echo /)"
python3 -c 'import shutil; shutil.rmtree("/")'
python3 -c "import shutil; shutil.rmtree('.')"
python3 -c 'import shutil, os; shutil.rmtree(os.path.expanduser("~"))'
python3 -c 'from pathlib import Path; import shutil; shutil.rmtree(Path.home())'
python3 -c 'import os; os.system("rm -rf /")'
python3 -c 'import subprocess; subprocess.run(["rm", "-rf", "/"])'
python3 -c 'open("/dev/sda", "wb").write(b"x")'
python3 <<< 'import shutil; shutil.rmtree("/")'
perl -e 'use File::Path; rmtree("/")'
perl -e 'system "rm -rf ~"'
ruby -e 'FileUtils.rm_rf "/"'
ruby -e 'FileUtils.rm_r(Dir.home)'
node -e 'require("fs").rmSync("/", {recursive: true, force: true})'
node -e 'require("child_process").execSync("rm -rf /")'
php -r 'exec("rm -rf ~");'
lua -e 'os.execute("rm -rf /")'
"""
ORDINARY = """
find . -name '*.pyc' -exec rm {} +
find . -name '*.pyc' -delete
find . -name '*.pyc' -print0 | xargs -0 rm -f
find . -type d -name __pycache__ -exec rm -rf {} +
find . -type f -mtime +30 -exec rm {} \\;
find . -type f -name '*.sh' -exec chmod +x {} \\;
find . -maxdepth 1 -type d -exec sh -c 'rm -f foo.o' \\;
find src -exec rm {} +
find build -type f | xargs rm
find . -type f | xargs chmod 644
find . -type f | xargs grep foo
find . -name '*.md' | while read f; do mv "$f" "${f%.md}.txt"; done
find / -name libfoo.so -exec ldd {} \\;
find ~ -name '*.py' -exec grep -l x {} +
git ls-files -o | xargs rm -f
ls *.log | xargs rm
printf '%s\\n' a.txt b.txt | xargs rm -f
echo / | cat
xargs rm -f < list
mkfs.ext4 disk.img
wipefs disk.img
dd if=/dev/zero of=a.img bs=1M count=1
shred a.txt
chmod -R u+w src
rm -rf build
fdisk -l
fdisk -l /dev/sda
parted /dev/sda print
python3 -c 'import shutil; shutil.rmtree("build")'
python3 -c 'print("/")'
python3 -c 'import os; print(os.listdir("/"))'
python3 -c 'print(open("/etc/hosts").read())'
node -e 'require("fs").rmSync("build", {recursive: true})'
perl -e 'print "/"'
ruby -e 'puts Dir.home'
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("removals"))


async def is_allowed(command: str, world: World) -> bool:
    return BYPASS in await Decider(world, (BYPASS,)).allowed(command)


@pytest.mark.parametrize("command", DANGEROUS.strip().splitlines())
async def test_what_destroys_a_place_as_a_whole_is_asked_about(command: str, world: World) -> None:
    assert not await is_allowed(command, world)


@pytest.mark.parametrize("command", ORDINARY.strip().splitlines())
async def test_an_ordinary_removal_is_not(command: str, world: World) -> None:
    assert await is_allowed(command, world)
