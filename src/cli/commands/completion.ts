import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { completionFor, SHELLS, type Shell } from '../completion.ts'
import { printText } from '../terminal/io.ts'

/** `phaseline completion SHELL`: a script that completes commands and options. */
export function addCompletion(command: Command, cli: Cli): void {
  command
    .argument('<shell>', `${SHELLS.join(', ')}`)
    .addHelpText(
      'after',
      `
bash:  source <(phaseline completion bash)
zsh:   source <(phaseline completion zsh)
fish:  phaseline completion fish | source`,
    )
    .action(async (shell: string) => {
      const known = SHELLS.find((one): one is Shell => one === shell)
      if (!known) command.error(`error: expected one of ${SHELLS.join(', ')}`)
      else printText(cli.io.stdout, completionFor(known, await cli.wholeProgram()))
    })
}
