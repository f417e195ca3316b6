import {
  durationOf,
  type Fields,
  isMap,
  isTrue,
  listOf,
  mapOf,
  some,
  textOf,
} from '../../../../cli/import/loose-values.ts'
import { CAPABILITIES, RESTARTS } from '../../../../core/deployers/container.ts'
import { pairsOf, pathOf, sizeOf, wordsOf } from './compose-values.ts'

/** How a service is written in the manifest, and what of it is not. */
export interface ImportedService {
  readonly config: Fields
  readonly dependsOn: readonly string[]
  readonly left: readonly string[]
}

/** The parts of the file that its services share. Names are those of the manifest. */
export interface ComposeContext {
  /** Prefix of volumes and networks, as Compose has it: others of the project keep their own. */
  readonly app: string
  readonly volumes: Fields
  readonly networks: Fields
  readonly configs: Fields
  readonly secrets: Fields
  itemName(service: string): string | undefined
  /** True if another service waits until it has ended. */
  runsToEnd(service: string): boolean
  readonly env: (name: string) => string | undefined
  /** The text of a small file beside the Compose file, or why it is none. */
  file(path: string): Promise<{ readonly text: string } | { readonly why: string }>
  /** Variables of a file like `.env`. */
  envFile(path: string): Promise<ReadonlyMap<string, string> | null>
}

/** Settings that change nothing of what runs. */
const SILENT = ['expose', 'profiles', 'pull_policy', 'attach', 'init', 'tty', 'stdin_open', 'annotations']

/** Takes settings one by one, so that those that nobody has taken are what is left out. */
class Settings {
  readonly left: string[] = []
  readonly #fields: Fields
  readonly #taken = new Set<string>(SILENT)
  constructor(fields: Fields) {
    this.#fields = fields
  }
  take(name: string): unknown {
    this.#taken.add(name)
    return this.#fields[name]
  }
  leave(what: string): undefined {
    this.left.push(what)
  }
  /** Everything that is left out. */
  all(): readonly string[] {
    const untaken = Object.keys(this.#fields).filter((name) => !this.#taken.has(name) && !name.startsWith('x-'))
    return [...this.left, ...untaken.map((name) => `${name} is left out`)]
  }
}

export async function importService(name: string, service: Fields, context: ComposeContext): Promise<ImportedService> {
  const settings = new Settings(service)
  const isJob = context.runsToEnd(name)
  const dependsOn = dependenciesOf(settings, context)
  const config = {
    mode: isJob ? 'job' : 'service',
    image: imageOf(name, settings, context),
    ...some('command', wordsOf(settings.take('entrypoint'))),
    ...some('args', wordsOf(settings.take('command'))),
    ...some('env', await environmentOf(settings, context)),
    ...userOf(settings),
    ...some('workingDir', pathOf(settings.take('working_dir'))),
    ...networksOf(name, settings, context),
    ...(await mountsOf(settings, context)),
    ...limitsOf(settings),
    ...(isTrue(settings.take('read_only')) ? {} : { writableRoot: true }),
    ...some('capabilities', capabilitiesOf(settings)),
    ...graceOf(settings),
    ...(isJob ? jobOf(settings) : serviceOf(settings)),
  }
  return { config, dependsOn, left: settings.all() }
}

function imageOf(name: string, settings: Settings, { app }: ComposeContext): string {
  const [image, build] = [textOf(settings.take('image')), settings.take('build')]
  const built = image || `${app}-${name}`
  if (build !== undefined)
    settings.leave(`build is left out: build ${built} ("docker compose build ${name}"), or name an image of a registry`)
  return built
}

async function environmentOf(settings: Settings, { env, envFile }: ComposeContext): Promise<Fields> {
  const variables: Record<string, string> = {}
  for (const given of listOf(settings.take('env_file'))) {
    const path = textOf(isMap(given) ? given.path : given)
    const read = await envFile(path)
    if (read) Object.assign(variables, Object.fromEntries(read))
    else if (!isMap(given) || given.required !== false)
      settings.leave(`env_file ${path} is left out: it cannot be read`)
  }
  for (const [name, value] of pairsOf(settings.take('environment'))) {
    const set = value ?? env(name)
    if (set !== undefined) variables[name] = set
  }
  return variables
}

function userOf(settings: Settings): Fields {
  const user = textOf(settings.take('user'))
  if (user === '') return {}
  if (/^\d{1,9}(:\d{1,9})?$/.test(user)) return { user }
  settings.leave(`user ${user} is left out: write it as a number`)
  return {}
}

function dependenciesOf(settings: Settings, { itemName }: ComposeContext): readonly string[] {
  const given = settings.take('depends_on')
  const names = isMap(given) ? Object.keys(given) : listOf(given).map(textOf)
  return names.flatMap((name) => itemName(name) ?? settings.leave(`depends_on ${name} is left out`) ?? [])
}

function networksOf(name: string, settings: Settings, context: ComposeContext): Fields {
  const mode = textOf(settings.take('network_mode'))
  if (mode === 'none' || mode === 'bridge') return { network: mode }
  if (mode !== '') settings.leave(`network_mode ${mode} is left out: it is in the network default`)
  const given = settings.take('networks') ?? ['default']
  const members = isMap(given) ? Object.entries(given) : listOf(given).map((one) => [textOf(one), null] as const)
  const networks: string[] = []
  const aliases = [context.itemName(name) === name ? '' : name, textOf(settings.take('container_name'))]
  for (const [network, member] of members) {
    const { external, internal, name: own } = mapOf(context.networks[network])
    if (external) {
      if (members.length === 1) return { network: textOf(own) || network }
      settings.leave(`the external network ${network} is left out: put its members into one network`)
      continue
    }
    if (internal) settings.leave(`internal of the network ${network} is left out`)
    networks.push(textOf(own) || `${context.app}-${network}`)
    aliases.push(...listOf(mapOf(member).aliases).map(textOf))
  }
  const others = [...new Set(aliases)].filter((alias) => alias !== '')
  return networks.length > 0 ? { networks, ...some('aliases', others) } : { network: 'bridge' }
}

async function mountsOf(settings: Settings, context: ComposeContext): Promise<Fields> {
  const volumes: Fields[] = []
  const files: Record<string, string> = {}
  const tmpfs = listOf(settings.take('tmpfs')).map((one) => pathOf(textOf(one).split(':')[0]))
  const addFile = async (what: string, path: string, target: string): Promise<void> => {
    const read = await context.file(path)
    if ('text' in read) files[target] = read.text
    else settings.leave(`${what} ${path} at ${target} is left out: ${read.why}`)
  }
  for (const given of listOf(settings.take('volumes'))) {
    const mount = mountOf(given)
    const { type, source, target, isReadOnly } = mount
    if (type === 'tmpfs') tmpfs.push(target)
    else if (type === 'bind') {
      await addFile('the file', source, target)
      if (Object.hasOwn(files, target) && !isReadOnly) settings.leave(`the file ${target} is read-only here`)
    } else if (type === 'volume' && source !== '') {
      const { name, external, driver, driver_opts } = mapOf(context.volumes[source])
      if (driver !== undefined || driver_opts !== undefined)
        settings.leave(`the driver of the volume ${source} is left out`)
      if (external) settings.leave(`the external volume ${source} is one of the project here: copy its data into it`)
      const own = textOf(name) || (external ? source : `${context.app}-${source}`)
      volumes.push({ name: own, path: target, ...(isReadOnly ? { readOnly: true } : {}) })
    } else
      settings.leave(
        `the volume at ${target} without a name is left out: what is written there goes with the container`,
      )
  }
  for (const [kind, folder] of [
    ['configs', '/'],
    ['secrets', '/run/secrets/'],
  ] as const) {
    for (const given of listOf(settings.take(kind))) {
      const { source = given, target } = mapOf(given)
      const name = textOf(source)
      const wanted = textOf(target) || name
      const path = wanted.startsWith('/') ? wanted : `${folder}${wanted}`
      const { file, content, environment } = mapOf(context[kind][name])
      const text = content ?? (environment === undefined ? undefined : context.env(textOf(environment)))
      if (file !== undefined) await addFile(kind, textOf(file), path)
      else if (text !== undefined) files[path] = textOf(text)
      else settings.leave(`${kind} ${name} is left out: it has no file`)
      if (kind === 'secrets' && Object.hasOwn(files, path))
        settings.leave(`the secret ${name} stands in the manifest: write an import in its place`)
    }
  }
  return { ...some('files', files), ...some('volumes', volumes), ...some('tmpfs', tmpfs) }
}

interface Mount {
  readonly type: string
  readonly source: string
  readonly target: string
  readonly isReadOnly: boolean
}
function mountOf(given: unknown): Mount {
  if (isMap(given)) {
    const { type, source, target, read_only } = given
    return { type: textOf(type), source: textOf(source), target: pathOf(target), isReadOnly: isTrue(read_only) }
  }
  const [first = '', second, options = ''] = textOf(given).split(':')
  if (second === undefined) return { type: 'volume', source: '', target: pathOf(first), isReadOnly: false }
  const type = /^[./~]/.test(first) ? 'bind' : 'volume'
  return { type, source: first, target: pathOf(second), isReadOnly: options.split(',').includes('ro') }
}

function limitsOf(settings: Settings): Fields {
  const { resources, ...deploy } = mapOf(settings.take('deploy'))
  const { limits, ...others } = mapOf(resources)
  const { memory, cpus, pids } = mapOf(limits)
  for (const name of [...Object.keys(deploy), ...Object.keys(others).map((one) => `resources.${one}`)])
    settings.leave(`deploy.${name} is left out`)
  const size = sizeOf(settings.take('mem_limit') ?? memory)
  const [cores, processes] = [Number(settings.take('cpus') ?? cpus), Number(settings.take('pids_limit') ?? pids)]
  return {
    ...(size === undefined ? {} : { memory: size }),
    ...(cores > 0 ? { cpus: cores } : {}),
    ...(processes > 0 ? { pids: processes } : {}),
  }
}

/** Compose gives containers those of its engine, which images rely on that start as root. */
function capabilitiesOf(settings: Settings): readonly string[] {
  const wordsIn = (name: string) => listOf(settings.take(name)).map((one) => textOf(one).replace(/^CAP_/, ''))
  const [added, dropped] = [wordsIn('cap_add'), new Set(wordsIn('cap_drop'))]
  const known: readonly string[] = CAPABILITIES
  for (const one of added) if (!known.includes(one)) settings.leave(`cap_add ${one} is left out`)
  if (isTrue(settings.take('privileged'))) settings.leave('privileged is left out')
  return known.filter((one) => added.includes(one) || !(dropped.has(one) || dropped.has('ALL')))
}

const MAX_GRACE_MS = 300_000
function graceOf(settings: Settings): Fields {
  const graceMs = durationOf(settings.take('stop_grace_period'))
  return graceMs === undefined ? {} : { graceMs: Math.min(graceMs, MAX_GRACE_MS) }
}

function jobOf(settings: Settings): Fields {
  for (const name of ['ports', 'healthcheck']) if (settings.take(name)) settings.leave(`${name} is left out of a job`)
  settings.take('restart')
  return { output: 'text' }
}

function serviceOf(settings: Settings): Fields {
  const [restart = '', count] = textOf(settings.take('restart')).split(':')
  if (count !== undefined) settings.leave('the count of restarts is left out')
  if (restart === 'no' || restart === 'false')
    settings.leave('restart: no is left out: a service is started again when it ends')
  const isKnown = RESTARTS.some((one) => one === restart && one !== 'unless-stopped')
  return { ...portsOf(settings), ...healthOf(settings), ...(isKnown ? { restart } : {}) }
}

function portsOf(settings: Settings): Fields {
  const ports: { readonly container: number; readonly host?: number }[] = []
  let isOpen = false
  for (const given of listOf(settings.take('ports'))) {
    const port = isMap(given) ? given : shortPort(textOf(given))
    const { target, published, protocol = 'tcp', host_ip } = port
    const [container, host] = [Number(target), Number(textOf(published) || 0)]
    if (!Number.isInteger(container) || !Number.isInteger(host) || protocol !== 'tcp') {
      settings.leave(
        `the port ${isMap(given) ? JSON.stringify(given) : textOf(given)} is left out: only single TCP ports are published`,
      )
      continue
    }
    isOpen ||= host_ip !== '127.0.0.1'
    ports.push({ container, ...(host > 0 ? { host } : {}) })
  }
  if (isOpen) settings.leave('its ports are published on 127.0.0.1 only')
  return some('ports', ports)
}

/** `[address:][published:]target[/protocol]`. */
function shortPort(text: string): Fields {
  const [ports = '', protocol] = text.split('/')
  const [target, published, ...address] = ports.split(':').reverse()
  return { target, published, protocol, host_ip: address.reverse().join(':') }
}

const [MIN_MS, MAX_MS] = [100, 60_000]
function healthOf(settings: Settings): Fields {
  const given = settings.take('healthcheck')
  if (!isMap(given)) return {}
  const { test, disable, interval, timeout, retries, start_period, start_interval } = given
  const [kind, ...words] = typeof test === 'string' ? ['CMD-SHELL', test] : listOf(test).map(textOf)
  if (isTrue(disable) || kind === 'NONE') return { health: {} }
  if (start_interval !== undefined) settings.leave('healthcheck.start_interval is left out')
  const msOf = (value: unknown, otherwise: number) => Math.min(Math.max(durationOf(value) ?? otherwise, MIN_MS), MAX_MS)
  const intervalMs = msOf(interval, 30_000)
  const more = Math.ceil((durationOf(start_period) ?? 0) / intervalMs)
  const times = {
    intervalMs,
    timeoutMs: msOf(timeout, 30_000),
    retries: Math.min((Number(retries) || 3) + more, 1_000),
  }
  if (words.length === 0) {
    settings.leave('healthcheck is left out: it has no test')
    return {}
  }
  return { health: { command: kind === 'CMD' ? words : ['/bin/sh', '-c', words.join(' ')], ...times } }
}
