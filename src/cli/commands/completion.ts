import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import type { Completed } from '../completed.ts'
import { completionFor, SHELLS, type Shell } from '../completion.ts'
import { printLine, printText } from '../terminal/io.ts'

/**
 * `phaseline completion SHELL`: a script that completes commands, options and names. For names it calls
 * `phaseline completion names SOURCE TEXT LINE`.
 */
export function addCompletion(command: Command, cli: Cli): void {
  command
    .argument('<shell>', `${SHELLS.join(', ')}`)
    .allowExcessArguments()
    .addHelpText(
      'after',
      `
bash:  source <(phaseline completion bash)
zsh:   source <(phaseline completion zsh)
fish:  phaseline completion fish | source`,
    )
    .action(async (shell: string) => {
      if (shell === 'names') {
        const [, completed, text = '', line = ''] = command.args
        const { completeNames } = await import('../complete-names.ts')
        const asked = { completed: completed as Completed, text, words: line.split(' ') }
        for (const name of await completeNames(cli.io, asked)) printLine(cli.io.stdout, name)
        return
      }
      const known = SHELLS.find((one): one is Shell => one === shell)
      if (!known) command.error(`error: expected one of ${SHELLS.join(', ')}`)
      else printText(cli.io.stdout, completionFor(known, await cli.wholeProgram()))
    })
}
