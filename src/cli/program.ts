import { Command } from 'commander'
import packageJson from '../../package.json' with { type: 'json' }
import type { FamilyDefinition } from '../families/define-family.ts'
import type { Cli } from './cli.ts'
import { addAgent } from './commands/agent.ts'
import { addAgents } from './commands/agents.ts'
import { addApply } from './commands/apply.ts'
import { addAudit } from './commands/audit.ts'
import { addBackup } from './commands/backup.ts'
import { addCancel } from './commands/cancel.ts'
import { addCompletion } from './commands/completion.ts'
import { addContext } from './commands/context.ts'
import { addDelete } from './commands/delete.ts'
import { addEdit } from './commands/edit.ts'
import { addExport } from './commands/export.ts'
import { addGadget } from './commands/gadget.ts'
import { addGet } from './commands/get.ts'
import { addGitSync } from './commands/git-sync.ts'
import { addHook } from './commands/hook.ts'
import { addInit } from './commands/init.ts'
import { addLabel } from './commands/label.ts'
import { addLog } from './commands/log.ts'
import { addLogin } from './commands/login.ts'
import { addLogs } from './commands/logs.ts'
import { addMachines } from './commands/machines.ts'
import { addOpen } from './commands/open.ts'
import { addPause } from './commands/pause.ts'
import { addPlan } from './commands/plan.ts'
import { addProject } from './commands/project.ts'
import { addRetry } from './commands/retry.ts'
import { addSecret } from './commands/secret.ts'
import { addServe } from './commands/serve.ts'
import { addToken } from './commands/token.ts'
import { addTree } from './commands/tree.ts'
import { addWatch } from './commands/watch.ts'
import { addWhoami } from './commands/whoami.ts'
import { hooks } from './hooks/apply.ts'
import { projects } from './projects/apply.ts'
import { printText } from './terminal/io.ts'

const AFTER_HELP = `
Exit codes: 0 ok, 1 the thing failed, 2 usage or invalid input, 3 refused, 4 no connection or not authorised,
70 a defect of this program, 130 interrupted.`

/** Commands that all families share. */
const COMMANDS = [
  addApply,
  addWatch,
  addGet,
  addTree,
  addPlan,
  addEdit,
  addExport,
  addGitSync,
  addCancel,
  addPause,
  addRetry,
  addDelete,
  addLabel,
  addLog,
  addLogs,
  addOpen,
  addMachines,
  addProject,
  addSecret,
  addHook,
  addGadget,
  addAgents,
  addToken,
  addAudit,
  addLogin,
  addContext,
  addWhoami,
  addInit,
  addCompletion,
]

/** The whole command line. It throws commander's errors instead of ending the process. */
export async function createProgram(
  run: Pick<Cli, 'io' | 'exitCode'>,
  families: readonly FamilyDefinition[],
): Promise<Command> {
  const { io } = run
  const halves = await Promise.all(families.map((family) => family.cli?.()))
  const cli: Cli = Object.assign(run, {
    kinds: [projects, ...halves.flatMap((half) => half?.kinds ?? []), hooks],
    otherKinds: Object.assign({}, ...halves.map((half) => half?.otherKinds)),
    shows: Object.assign({}, ...halves.map((half) => half?.shows)),
  })
  // Set before the commands are added: they inherit it.
  const program = new Command('phaseline')
    .description(packageJson.description)
    .version(packageJson.version)
    .showHelpAfterError('(--help shows what there is)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => printText(io.stdout, text),
      writeErr: (text) => printText(io.stderr, text),
      // `--token=…` is no option of ours: the error must not repeat what may be a secret.
      outputError: (text, write) => write(text.replace(/(unknown option '[^'=]*)=[^']*/, '$1')),
    })
    .addHelpText('after', AFTER_HELP)
  addServe(program, cli, families)
  addBackup(program, cli, families)
  addAgent(program, cli, families)
  const ofFamilies = halves.flatMap((half) => half?.commands ?? [])
  for (const add of [...COMMANDS, ...ofFamilies]) add(program, cli)
  return program
}
