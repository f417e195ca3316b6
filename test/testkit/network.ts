import { execFile, execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { leaveOut } from './leave-out.ts'

const run = promisify(execFile)
const ip = (...args: readonly string[]) => run('ip', args)

/** Network namespaces for tests. False: they cannot be made here, and a line says so. */
export function hasNamespaces(): boolean {
  const probe = `phaseline-${randomBytes(4).toString('hex')}`
  try {
    execFileSync('ip', ['netns', 'add', probe], { stdio: 'ignore' })
    execFileSync('ip', ['netns', 'del', probe], { stdio: 'ignore' })
    return true
  } catch {
    leaveOut('network', 'they need network namespaces: Linux, root and iproute2.')
    return false
  }
}

/** A machine of a test's network. */
export interface Machine {
  readonly address: string
  /** Words before a command that run it on this machine. */
  readonly enter: readonly string[]
}

/** Machines with an address each, behind one router. The test itself has several addresses in it: those of `here`. */
export interface Network<Name extends string, Here extends string> extends AsyncDisposable {
  readonly machines: Readonly<Record<Name, Machine>>
  /** Addresses of this process. The first one is where its own connections come from. */
  readonly here: Readonly<Record<Here, string>>
  /**
   * The router drops the packets from the first to the second one, silently, until it is disposed.
   * @param directions `one`: those of the other direction arrive
   */
  partition(from: Name | Here, to: Name | Here, directions?: 'both' | 'one'): Promise<AsyncDisposable>
}

export async function createNetwork<Name extends string, Here extends string>(
  names: readonly Name[],
  here: readonly Here[],
): Promise<Network<Name, Here>> {
  await using made = new AsyncDisposableStack()
  const id = randomBytes(3).toString('hex')
  // A private range that nothing else is likely to have.
  const net = `10.${200 + (process.pid % 50)}.${Number.parseInt(id.slice(0, 2), 16)}`
  let last = 1
  const router = `pl-${id}`
  const add = async (name: string): Promise<void> => {
    await ip('netns', 'add', name)
    made.defer(async () => void (await ip('netns', 'del', name)))
    await ip('-n', name, 'link', 'set', 'lo', 'up')
  }
  /** A cable to the router, whose end there has the name of the link. */
  const connect = async (link: string, addresses: readonly string[], namespace: string | null): Promise<void> => {
    const inside = namespace === null ? [] : ['-n', namespace]
    const end = `${link}-0`
    await ip(...['-n', router, 'link', 'add', 'dev', link, 'type', 'veth', 'peer', 'name', end])
    await ip(...['-n', router, 'link', 'set', 'dev', end, 'netns', namespace ?? String(process.pid)])
    await ip('-n', router, 'link', 'set', 'dev', link, 'up')
    await ip(...inside, 'link', 'set', 'dev', end, 'up')
    for (const address of addresses) {
      await ip(...inside, 'address', 'add', `${address}/32`, 'dev', end)
      await ip('-n', router, 'route', 'add', `${address}/32`, 'dev', link)
    }
    await ip(...inside, 'route', 'add', `${net}.1/32`, 'dev', end)
    const to = namespace === null ? `${net}.0/24` : 'default'
    await ip(...inside, 'route', 'add', to, 'via', `${net}.1`, 'src', addresses[0] ?? '')
  }
  await add(router)
  await ip('-n', router, 'address', 'add', `${net}.1/32`, 'dev', 'lo')
  await run('ip', ['netns', 'exec', router, 'sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward'])
  const addressOf = new Map<string, string>()
  for (const name of [...here, ...names]) addressOf.set(name, `${net}.${++last}`)
  const address = (name: string): string => addressOf.get(name) ?? ''
  await connect(`pl${id}`, here.map(address), null)
  const machines: Partial<Record<Name, Machine>> = {}
  for (const name of names) {
    const namespace = `${router}-${name}`
    await add(namespace)
    await connect(name, [address(name)], namespace)
    machines[name] = { address: address(name), enter: ['ip', 'netns', 'exec', namespace] }
  }
  const kept = made.move()
  return {
    machines: machines as Record<Name, Machine>,
    here: Object.fromEntries(here.map((name) => [name, address(name)])) as Record<Here, string>,
    async partition(from, to, directions = 'both') {
      const ways = [[from, to] as const, ...(directions === 'both' ? [[to, from] as const] : [])]
      const rule = (verb: 'add' | 'del') =>
        Promise.all(
          ways.map(([a, b]) => ip('-n', router, 'rule', verb, 'from', address(a), 'to', address(b), 'blackhole')),
        )
      await rule('add')
      return { [Symbol.asyncDispose]: async () => void (await rule('del')) }
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
