import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { buildSchema } from 'graphql'
import { createProgram } from '../src/cli/program.ts'
import { families } from '../src/families/index.ts'
import { apiReference, type ReferencePage } from './api-reference.ts'

/** Prints the pages of the reference as JSON, for the site of the documentation. */

/** Nothing is run, so nothing of a process is used. */
const program = await createProgram({ io: process, exitCode: 0 } as never, families)

const commandsOf = (command: Command): readonly Command[] =>
  command.commands.flatMap((each) => (each.commands.length > 0 ? commandsOf(each) : [each]))

const pathOf = (command: Command): string =>
  command.parent ? `${pathOf(command.parent)} ${command.name()}`.trim() : ''

function sectionOf(command: Command): string {
  command.configureHelp({ helpWidth: 100 })
  const help = command.helpInformation().trim()
  return `## ${pathOf(command)}\n\n\`\`\`txt\n${help}\n\`\`\``
}

const commands: ReferencePage = {
  page: 'commands',
  content: [
    '# Commands',
    'What `phaseline COMMAND --help` says. [The command line](../cli) shows how they are used.',
    ...commandsOf(program).map(sectionOf),
  ].join('\n\n'),
}

const schema = buildSchema(readFileSync(join(import.meta.dirname, '../schema.graphql'), 'utf8'))
const pages = [...apiReference(schema), commands]
process.stdout.write(JSON.stringify(pages.map(({ page, content }) => ({ params: { page }, content }))))
