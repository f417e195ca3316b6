import { spawnSync } from 'node:child_process'
import { leaveOut } from './leave-out.ts'

/** True if Go is installed; if not, a line says so. */
export function hasGo(): boolean {
  const isThere = spawnSync('go', ['version']).status === 0
  if (!isThere) leaveOut('go', 'there is no go in PATH: npm run test:deep -- languages installs it.')
  return isThere
}
