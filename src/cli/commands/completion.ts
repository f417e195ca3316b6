import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { completionFor, SHELLS, type Shell } from '../completion.ts'
import { printText } from '../terminal/io.ts'

/** `phaseline completion SHELL`: a script that completes commands and options. */
export function addCompletion(program: Command, cli: Cli): void {
  program
    .command('completion')
    .description('print a script that completes commands and options in your shell')
    .argument('<shell>', `${SHELLS.join(', ')}`)
    .addHelpText(
      'after',
      `
bash:  source <(phaseline completion bash)
zsh:   source <(phaseline completion zsh)
fish:  phaseline completion fish | source`,
    )
    .action((shell: string, _options: unknown, command: Command) => {
      const known = SHELLS.find((one): one is Shell => one === shell)
      if (!known) command.error(`error: expected one of ${SHELLS.join(', ')}`)
      else printText(cli.io.stdout, completionFor(known, program))
    })
}
