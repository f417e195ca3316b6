import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import type { Cli } from '../../../cli/cli.ts'
import {
  commentOf,
  type Imported,
  type ImportOptions,
  importer,
  parseMaps,
  readText,
  runImport,
} from '../../../cli/import/import-command.ts'
import {
  durationOf,
  type Fields,
  ImportProblem,
  isTrue,
  listOf,
  mapOf,
  nameFrom,
  some,
  textOf,
} from '../../../cli/import/loose-values.ts'
import { packagePath } from '../../../cli/package-path.ts'
import type { Io } from '../../../cli/terminal/io.ts'
import { writeYaml } from '../../../manifest/index.ts'

/** `phaseline import brigade project.yaml`: a project of Brigade 2 as one of ours. */
export function addImportBrigade(group: Command, cli: Cli): void {
  importer(group, 'brigade')
    .description('write a project that Brigade describes, and list the jobs of its script, which are left to write')
    .argument('<file>', 'such as project.yaml, or - for the output of "brig project get --output yaml"')
    .action(async (file: string, options: ImportOptions) => {
      cli.exitCode = await runImport(cli.io, file, options, () => importBrigade(cli.io, file))
    })
}

const SCRIPT = /\.(js|ts|mjs|cjs)$/

async function importBrigade(io: Io, file: string): Promise<Imported> {
  const documents = parseMaps(await readText(file, io), 'project of Brigade')
  const project = documents.find(
    ({ kind, apiVersion }) => kind === 'Project' && textOf(apiVersion).startsWith('brigade.sh/'),
  )
  if (!project) throw new ImportProblem('it is no project of Brigade 2')
  const spec = mapOf(project.spec)
  const left: string[] = []
  const template = await templateOf(mapOf(spec.workerTemplate), left)
  const subscriptions = listOf(spec.eventSubscriptions).map((one) => {
    const { source, types, qualifiers, labels } = mapOf(one)
    return {
      source: textOf(source),
      types: listOf(types).map(textOf),
      ...some('qualifiers', mapOf(qualifiers)),
      ...some('labels', mapOf(labels)),
    }
  })
  const sources = subscriptions.map(({ source }) => source)
  if (sources.some((source) => source.startsWith('brigade.sh/')))
    left.push(
      'events of the source brigade.sh/… came from Brigade itself: create them with "phaseline event create --source …"',
    )
  if (sources.some((source) => !source.startsWith('brigade.sh/')))
    left.push('gateways of Brigade do not send events here: let what they hear call createEvent')
  const name = nameFrom(textOf(mapOf(project.metadata).id))
  const yaml = writeYaml({ kind: 'Project', name, workerTemplate: template, subscriptions }, [
    { path: [], text: commentOf([textOf(project.description), ...left].filter((line) => line !== '')) },
  ])
  return { yaml, left: left.map((what) => ({ part: null, what })) }
}

async function templateOf(template: Fields, left: string[]): Promise<Fields> {
  const { container, defaultConfigFiles, configFilesDirectory, git, useWorkspace, timeoutDuration, ...others } =
    template
  const { image, command, arguments: args, environment, imagePullPolicy, ...more } = mapOf(container)
  if (imagePullPolicy !== undefined) left.push('imagePullPolicy is left out: the engine or cluster has its own')
  const known = ['logLevel', 'workspaceSize']
  for (const key of [...Object.keys(more), ...Object.keys(others)])
    if (!known.includes(key)) left.push(`${key} of the worker is left out`)

  const files = Object.entries(mapOf(defaultConfigFiles)).map(([path, content]) => ({ path, content: textOf(content) }))
  const [script] = files.filter(({ path }) => SCRIPT.test(path))
  const folder = textOf(configFilesDirectory).replace(/\/+$/, '') || '.brigade'
  const isInRepository = git !== undefined && script === undefined
  const program = script?.path ?? (isInRepository ? `${folder}/brigade.js` : 'pipeline.mjs')
  if (isInRepository)
    left.push(
      `the script is in ${folder} of the repository: TypeScript has to be compiled, or runs with "node --experimental-strip-types"`,
    )
  if (image === undefined) {
    files.push(...(await brigadier()))
    left.push(
      'a runtime of containers or pods takes an image: that of Brigade calls Brigade, so name one with Node 22 or newer',
    )
  }
  for (const { path, content } of files) if (SCRIPT.test(path)) left.push(...jobsOf(path, content))
  const timeout = durationOf(timeoutDuration)
  return {
    ...some('image', textOf(image)),
    command: listOf(command).length > 0 ? listOf(command).map(textOf) : ['node', program],
    ...some('args', listOf(args).map(textOf)),
    ...some('env', mapOf(environment)),
    ...some('files', files),
    ...(git === undefined ? {} : { clone: cloneOf(mapOf(git), left) }),
    ...(timeout === undefined ? {} : { timeout: `${Math.ceil(timeout / 1_000)}s` }),
    ...(isTrue(useWorkspace) ? { workspace: true } : {}),
  }
}

function cloneOf({ cloneURL, ref, commit, initSubmodules }: Fields, left: string[]): Fields {
  if (isTrue(initSubmodules)) left.push('initSubmodules is left out: let the command run "git submodule update --init"')
  if (commit === undefined)
    left.push('the commit of an event is not taken by itself: write clone.ref as an expression of the event')
  return { url: textOf(cloneURL), ...some('ref', textOf(commit ?? ref)) }
}

/** The module that scripts import from Brigade, written for this product. */
const brigadier = async () =>
  await Promise.all(
    [
      ['brigadier.cjs', 'examples/brigade/brigadier.cjs'],
      ['phaseline.mjs', 'examples/ci/phaseline.mjs'],
      ['package.json', 'examples/brigade/package.json'],
    ].map(async ([name = '', from = '']) => ({
      path: `node_modules/@brigadecore/brigadier/${name}`,
      content: await readFile(packagePath(from), 'utf8'),
    })),
  )

// Bounds, and no two neighbours that take the same character: a script that is no such thing is read in time, too.
const JOB = /\b(\w+)\s*=\s*new\s+Job\(([^,]{1,300}),([^,]{1,300}),/g
const CONTAINER = /new\s+Container\(([^)]{1,300})\)/g
const MEMBERS: readonly (readonly [member: string, ours: string])[] = [
  ['command', 'command'],
  ['arguments', 'args'],
  ['environment', 'env'],
  ['workspaceMountPath', 'the workspace at $PHASELINE_WORKSPACE, not at'],
  ['sourceMountPath', 'the source at $PHASELINE_WORKSPACE, not at'],
  ['privileged', 'privileged, which has no equivalent:'],
  ['useHostDockerSocket', 'the socket of the host, which has no equivalent:'],
]

/** The jobs of a script as it writes them, for the person who reads what becomes of them. */
function jobsOf(path: string, script: string): readonly string[] {
  return [...script.matchAll(JOB)].map(([, variable = '', name = '', image = '']) => {
    const settings = MEMBERS.flatMap(([member, ours]) => {
      const set = new RegExp(
        `\\b${variable}\\.primaryContainer\\.${member}\\s*=\\s*(\\S[\\s\\S]*?)(?:;|\\n(?!\\s*[\\]"'\`},]))`,
      )
      const value = set.exec(script)?.[1]?.replace(/\s+/g, ' ').trim()
      return value === undefined ? [] : [`${ours} ${value}`]
    })
    const beside = script.includes(`${variable}.sidecarContainers`)
      ? [...script.matchAll(CONTAINER)].map(
          ([, other = '']) => `a service for the sidecar of the image ${other.trim()}`,
        )
      : []
    return `${path}: the job ${name.trim()}: ${[`image ${image.trim()}`, ...settings, ...beside].join(', ')}`
  })
}
