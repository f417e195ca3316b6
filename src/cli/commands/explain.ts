import { type Command, Option } from 'commander'
import type { Cli } from '../cli.ts'
import { type ExplainOptions, explainField } from '../manifests/explain-field.ts'

/** `phaseline explain [FIELD]`: the documents of `apply`, field by field. It needs no server. */
export function addExplain(command: Command, cli: Cli): void {
  command
    .argument('[field]', 'a kind of documents, or a field of it')
    .option('--recursive', 'all fields below it as well')
    .option('--json', 'print its JSON Schema; without a field that of all documents, for an editor')
    .addOption(new Option('-o, --format <format>', 'print its JSON Schema as json or yaml').choices(['json', 'yaml']))
    .addHelpText(
      'after',
      `
Examples:
  phaseline explain
  phaseline explain installation.spec.deployItems
  phaseline explain project --recursive
  phaseline explain --json > phaseline.schema.json`,
    )
    .action(async (field: string | undefined, options: ExplainOptions) => {
      cli.exitCode = await explainField(cli, field, options)
    })
}
