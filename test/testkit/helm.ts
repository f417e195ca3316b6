import { execFileSync } from 'node:child_process'
import { leaveOut } from './leave-out.ts'

/** The program of Helm: PHASELINE_TEST_HELM, or `helm` in PATH. Null: there is none, and a line says so. */
export function helmProgram(): string | null {
  const program = process.env.PHASELINE_TEST_HELM ?? 'helm'
  try {
    execFileSync(program, ['version', '--short'], { stdio: 'ignore' })
    return program
  } catch {
    leaveOut('helm', 'there is no helm in PATH, and none is named by PHASELINE_TEST_HELM.')
    return null
  }
}
