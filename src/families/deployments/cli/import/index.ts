import type { Command } from 'commander'
import type { Cli } from '../../../../cli/cli.ts'
import { type ImportOptions, importer, runImport } from '../../../../cli/import/import-command.ts'
import { importCompose } from './compose.ts'
import { importLandscaper } from './landscaper.ts'

/** Installations out of files of other tools. */
export function addImports(group: Command, cli: Cli): void {
  importer(group, 'compose')
    .description('write an installation of container items that a Compose file describes, and say what is left out')
    .argument('<file>', 'such as compose.yaml, or - for the output of "docker compose config"')
    .option('--name <name>', 'name of the installation (default: the one of the file, or of its folder)')
    .action(async (file: string, options: ImportOptions & { readonly name?: string }) => {
      cli.exitCode = await runImport(cli.io, file, options, () => importCompose(cli.io, file, options.name))
    })
  importer(group, 'landscaper')
    .description('write installations of those of Landscaper with their blueprints, and say what is left to decide')
    .argument('<path...>', 'files, and folders whose files are read: installations, data objects, targets, components')
    .option(
      '--blueprint <folder...>',
      'folder of a blueprint in a registry; NAME=FOLDER is the one that is referred to by that name',
    )
    .action(async (paths: string[], options: ImportOptions & { readonly blueprint?: string[] }) => {
      cli.exitCode = await runImport(cli.io, paths.join(' '), options, () =>
        importLandscaper(cli.io, paths, options.blueprint),
      )
    })
}
