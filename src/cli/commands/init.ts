import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { initProject } from '../init/init.ts'
import { printRefusal } from '../objects/refusal.ts'
import { EXIT } from '../terminal/exit.ts'
import { printLine } from '../terminal/io.ts'

/** `phaseline init FOLDER`: a project with an agent of one's own. It calls no server. */
export function addInit(program: Command, cli: Cli): void {
  const { io } = cli
  program
    .command('init')
    .description('write a project with an agent in TypeScript, a manifest and a test')
    .argument('<folder>', 'a new folder, or an empty one; its name is the name of the package')
    .option('--type <type>', 'type of the deploy items that the agent deploys', 'my-type')
    .action(async (folder: string, { type }: { readonly type: string }) => {
      const written = await initProject(folder, type)
      if (!written.ok) {
        cli.exitCode = printRefusal(written.refusal, false, io.stdout, io.stderr)
        return
      }
      for (const file of written.value.files) printLine(io.stdout, `${folder}/${file}`)
      printLine(io.stdout, `\nNext:\n  cd ${folder} && npm install && npm test`)
      printLine(
        io.stdout,
        `  PHASELINE_TOKEN=$(npx phaseline token create my-agent --role agent --type ${type} -q) npm start`,
      )
      printLine(io.stdout, '  npx phaseline apply -f greeting.yaml --wait   # in another terminal')
      cli.exitCode = EXIT.ok
    })
}
