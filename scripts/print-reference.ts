import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { buildSchema } from 'graphql'
import { schemaOfDocuments } from '../src/cli/manifests/document-schema.ts'
import { createProgram, documentKindsOf } from '../src/cli/program.ts'
import { families } from '../src/families/index.ts'
import { fieldsBelow } from '../src/manifest/index.ts'
import { apiReference, cell, prose, type ReferencePage, table } from './api-reference.ts'

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

const documents = schemaOfDocuments((await documentKindsOf(families)).kinds)
const manifests: ReferencePage = {
  page: 'manifests',
  content: [
    '# Manifests',
    `Each field of the documents that \`phaseline apply\` takes, and of the task that \`phaseline task run\` takes. \`phaseline explain\`
prints the same. An editor completes and judges them by [their JSON Schema](../cli#in-an-editor).`,
    ...(documents.properties?.kind?.enum ?? []).flatMap((kind) => [
      `## ${kind}`,
      table(
        ['Field', 'Value', 'Means'],
        fieldsBelow(documents.definitions[String(kind)] ?? {}, documents.definitions).map(
          ({ path, type, required, description, repeats }) => [
            `\`${path}\`${required ? ' *' : ''}`,
            cell(type),
            cell(`${prose(description)}${repeats ? ' The same fields once more.' : ''}`),
          ],
        ),
      ),
    ]),
    '\\* required, within what is around it',
  ].join('\n\n'),
}
const pages = [...apiReference(schema), manifests, commands]
process.stdout.write(JSON.stringify(pages.map(({ page, content }) => ({ params: { page }, content }))))
