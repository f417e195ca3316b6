import { findPackageJSON } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { DEFAULT_URL, findUrl } from '../connection.ts'
import { initProject } from '../init/init.ts'
import { printRefusal } from '../objects/refusal.ts'
import { EXIT } from '../terminal/exit.ts'
import { printLine } from '../terminal/io.ts'

/** `phaseline init FOLDER`: a project with an agent of one's own. It calls no server. */
export function addInit(command: Command, cli: Cli): void {
  const { io } = cli
  command
    .argument('<folder>', 'a new folder, or an empty one; its name is the name of the package')
    .option('--type <type>', 'type of the deploy items that the agent deploys', 'my-type')
    .action(async (folder: string, { type }: { readonly type: string }) => {
      const written = await initProject(folder, type)
      if (!written.ok) {
        cli.exitCode = printRefusal(written.refusal, false, io.stdout, io.stderr)
        return
      }
      for (const file of written.value.files) printLine(io.stdout, `${folder}/${file}`)
      const found = await findUrl({}, io.env)
      // The agent calls the default address, unless it is set.
      const at = found.ok && found.url.href !== DEFAULT_URL ? `PHASELINE_URL=${found.url.href} ` : ''
      const install = findsClient(folder) ? '' : `npm --prefix ${folder} install && `
      const next = [
        `${install}npm --prefix ${folder} test`,
        `${at}PHASELINE_TOKEN=$(npx phaseline token create ${written.value.name} --role agent --type ${type} -q) npm --prefix ${folder} start`,
        `npx phaseline apply -f ${folder}/greeting.yaml --wait   # in another terminal`,
      ]
      for (const line of ['', 'Next:', ...next.map((line) => `  ${line}`)]) printLine(io.stdout, line)
      cli.exitCode = EXIT.ok
    })
}

/** True if its programs find the package already, as in a folder below one that has installed it. */
function findsClient(folder: string): boolean {
  try {
    return findPackageJSON('phaseline', pathToFileURL(join(resolve(folder), 'agent.ts'))) !== undefined
  } catch {
    return false
  }
}
