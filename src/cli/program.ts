import { Command } from 'commander'
import packageJson from '../../package.json' with { type: 'json' }
import type { Cli } from './cli.ts'
import { addApply } from './commands/apply.ts'
import { addCancel } from './commands/cancel.ts'
import { addData } from './commands/data.ts'
import { addDelete } from './commands/delete.ts'
import { addApp, addCloudlet, addCluster } from './commands/edge.ts'
import { addEvent } from './commands/event.ts'
import { addGadget } from './commands/gadget.ts'
import { addGet } from './commands/get.ts'
import { addLocks } from './commands/locks.ts'
import { addLog } from './commands/log.ts'
import { addMachines } from './commands/machines.ts'
import { addPlan } from './commands/plan.ts'
import { addProject } from './commands/project.ts'
import { addReconcile } from './commands/reconcile.ts'
import { addSecret } from './commands/secret.ts'
import { addServe } from './commands/serve.ts'
import { addTask } from './commands/task.ts'
import { addTree } from './commands/tree.ts'
import { addUndo } from './commands/undo.ts'
import { addWatch } from './commands/watch.ts'

const AFTER_HELP = `
Exit codes: 0 ok, 1 the thing failed, 2 usage or invalid input, 3 refused, 4 no connection or not authorised,
70 a defect of this program, 130 interrupted.`

const COMMANDS = [
  addServe,
  addApply,
  addWatch,
  addGet,
  addTree,
  addPlan,
  addReconcile,
  addCancel,
  addDelete,
  addLog,
  addMachines,
  addData,
  addProject,
  addSecret,
  addEvent,
  addGadget,
  addTask,
  addLocks,
  addUndo,
  addCloudlet,
  addCluster,
  addApp,
]

/** The whole command line. It throws commander's errors instead of ending the process. */
export function createProgram(cli: Cli): Command {
  const { io } = cli
  // Set before the commands are added: they inherit it.
  const program = new Command('phaseline')
    .description(packageJson.description)
    .version(packageJson.version)
    .showHelpAfterError('(--help shows what there is)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      // `--token=…` is no option of ours: it is told so without repeating what may be a secret.
      outputError: (text, write) => write(text.replace(/(unknown option '[^'=]*)=[^']*/, '$1')),
    })
    .addHelpText('after', AFTER_HELP)
  for (const add of COMMANDS) add(program, cli)
  return program
}
