import { spawnSync } from 'node:child_process'

/** Installs a package where that can be done: as root on Debian or Ubuntu. False: it could not. */
export function installPackage(name: string): boolean {
  if (process.getuid?.() !== 0 || spawnSync('apt-get', ['--version']).status !== 0) return false
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  spawnSync('apt-get', ['update'], { stdio: 'ignore', env })
  return spawnSync('apt-get', ['install', '-y', '--no-install-recommends', name], { stdio: 'ignore', env }).status === 0
}
