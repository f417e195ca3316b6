#!/usr/bin/env node
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileOf, interrupted, say, startServer, title, until } from '../lib/story.mjs'
import { compare, record } from './compare.mjs'

/**
 * node examples/edge/run.mjs: two cloudlets with four clusters and twelve apps, an upgrade, and a CRM that is killed with
 * kill -9 while it works. Brings its own server and its own folder, and removes both. Exit code 0 when what the server has
 * on record is what really is in the CRMs' folders.
 */

const { startAgentProcess } = await import(fileOf('agents/spawn'))
const { Secret } = await import(fileOf('core/secret'))
const { crmProcess } = await import(fileOf('families/edge/agents/crm-process'))

const CLOUDLETS = ['north', 'south']
const CLUSTERS = ['c1', 'c2']
const APPS = ['a1', 'a2', 'a3']
/** An operation takes so long, so that there is something to be interrupted. */
const BEHAVIOUR = { seed: 1, steps: 3, delayMs: [300, 1_200] }

/** By id. */
const paths = new Map()
const shown = new AbortController()

await using end = new AsyncDisposableStack()
try {
  process.exitCode = await main()
} catch (error) {
  console.error(`\n${error.message}`)
  process.exitCode = 1
}

async function main() {
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-edge-'))
  end.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  title('A server, and two cloudlets whose CRMs connect')
  const { client, url } = await startServer(join(folder, 'data'), end)
  showPhases(client)
  const edge = edgeOf(client)
  const crms = {}
  for (const name of CLOUDLETS) {
    const id = await edge.create(name, 'createCloudlet', { name })
    const token = await edge.token(name)
    crms[name] = startCrm({ name, url, token, state: join(folder, name) })
    await until(`${name} is connected`, async () => (await edge.see(id)).phase === 'READY')
  }
  await build(edge)
  await killWhileUpdating(edge, crms.south)
  await upgrade(edge)

  title('A cluster goes, with its apps')
  await edge.mutate('deleteClusterInst', { id: edge.id('north/c2'), cascade: true })
  await edge.settled()

  shown.abort()
  title('What is on record, and what is really there')
  const records = (await edge.all()).map(({ id, ...object }) => record({ path: paths.get(id), ...object }))
  const { lines, agree } = await compare(records, folder, CLOUDLETS)
  for (const line of lines) console.log(`  ${line}`)
  console.log(agree ? '\nThey agree.\n' : '\nThey do not agree.\n')
  return agree ? 0 : 1
}

async function build(edge) {
  title('Four clusters, then twelve apps: all at the same time')
  const clusters = CLOUDLETS.flatMap((cloudlet) => CLUSTERS.map((name) => ({ cloudlet, name })))
  const createCluster = ({ cloudlet, name }) => {
    const input = { cloudletId: edge.id(cloudlet), name, spec: { nodes: 3 } }
    return edge.create(`${cloudlet}/${name}`, 'createClusterInst', input)
  }
  await Promise.all(clusters.map(createCluster))
  await edge.settled()
  const createApp = (cluster, name) => {
    const input = { clusterInstId: edge.id(cluster), name, spec: { image: `${name}:1` } }
    return edge.create(`${cluster}/${name}`, 'createAppInst', input)
  }
  await Promise.all(clusters.flatMap(({ cloudlet, name }) => APPS.map((app) => createApp(`${cloudlet}/${name}`, app))))
  await edge.settled()
}

async function killWhileUpdating(edge, crm) {
  title('All apps of south are updated; kill -9 of its CRM while it is at it')
  const apps = async () =>
    (await edge.all()).filter(({ id, kind }) => kind === 'APP_INST' && paths.get(id).startsWith('south/'))
  const update = ({ id }) => edge.mutate('updateAppInst', { id, spec: { image: 'new:2' } })
  await Promise.all((await apps()).map(update))
  await until('one is being updated', async () => (await apps()).some(({ phase }) => phase === 'UPDATING'))
  const { epoch } = await edge.see(edge.id('south'))
  say(`kill -9 ${crm.pid}`)
  process.kill(crm.pid, 'SIGKILL')
  await until('another CRM has connected', async () => (await edge.see(edge.id('south'))).epoch > epoch)
  await edge.settled()
  const undone = (await apps()).filter(({ spec }) => spec.image !== 'new:2')
  say(`${undone.length} were half done and are as they were before: they are updated once more.`)
  await Promise.all(undone.map(update))
  await edge.settled()
}

async function upgrade(edge) {
  title('The cloudlet north is upgraded to version 2.0.0: a new CRM takes over from the one that runs')
  const [north, cluster] = [edge.id('north'), edge.id('north/c1')]
  await edge.mutate('upgradeCloudlet', { id: north, version: '2.0.0' })
  const { code } = await edge.ask('updateClusterInst', { id: cluster, spec: { nodes: 5 } })
  say(`meanwhile, an update of north/c1: ${code ?? 'accepted'}`)
  await until('north is upgraded', async () => {
    const { upgradePhase, version, phase } = await edge.see(north)
    return upgradePhase === 'READY' && version === '2.0.0' && phase === 'READY'
  })
  await edge.mutate('updateClusterInst', { id: cluster, spec: { nodes: 5 } })
  await edge.settled()
}

function startCrm({ name, url, token, state }) {
  const agent = startAgentProcess({
    ...{ url, token: new Secret(token), state, ...crmProcess({ cloudlet: name, behaviour: BEHAVIOUR }) },
    onEvent(event) {
      if (event.type === 'ended') say(`${name}: its CRM's process has ended (${event.signal ?? event.exitCode})`)
      if (event.type !== 'said' || !event.line.startsWith('{')) return
      const { event: what, pid, version, left = [] } = JSON.parse(event.line)
      if (what === 'crm serves') say(`${name}: process ${pid} serves it, version ${version}`)
      if (what === 'crm stands by') say(`${name}: process ${pid} stands by`)
      if (left.length > 0) say(`${name}: found half made, and removed: ${left.join(', ')}`)
    },
  })
  end.use(agent)
  return agent
}

/** Requests that a user makes. */
function edgeOf(client) {
  const SEE = 'id kind phase ... on Cloudlet { epoch version upgradePhase } '
  const INST = 'specRevision spec drifted finished'
  const edge = {
    id: (path) => [...paths].find(([, known]) => known === path)?.[0],
    async ask(field, input) {
      const type = field.replace(/^./, (letter) => letter.toUpperCase())
      const object = /Cloudlet|ClusterInst|AppInst/.exec(field)?.[0]
      const shown = object ? `... on ${object} { id }` : '... on CreatedToken { secret }'
      const { answer } = await client.query(
        `mutation ($input: ${type}Input!) { answer: ${field}(input: $input) { ${shown} ... on Error { code message } } }`,
        { input },
      )
      return answer
    },
    async mutate(field, input) {
      const answer = await edge.ask(field, input)
      if (answer.code) throw new Error(`${field}: ${answer.message}`)
      return answer
    },
    async create(path, field, input) {
      const { id } = await edge.mutate(field, input)
      paths.set(id, path)
      return id
    },
    async token(cloudlet) {
      const token = { name: `crm-${cloudlet}`, role: 'AGENT', actor: 'CRM', types: ['crm'], targets: [cloudlet] }
      return (await edge.mutate('createToken', token)).secret
    },
    see: async (id) => (await client.query(`query ($id: ID!) { object(id: $id) { ${SEE} } }`, { id })).object,
    /** All instances. */
    async all() {
      const trees = CLOUDLETS.flatMap((name) => {
        const id = edge.id(name)
        return id
          ? [
              `${name}: tree(rootId: "${id}") { objects(first: 100) { edges { node { ${SEE}
          ... on ClusterInst { ${INST} } ... on AppInst { ${INST} } } } } }`,
            ]
          : []
      })
      const data = await client.query(`{ ${trees.join('\n')} }`)
      const objects = Object.values(data).flatMap(({ objects }) => objects.edges.map(({ node }) => node))
      return objects.filter(({ kind }) => kind !== 'CLOUDLET')
    },
    settled: () =>
      until('nothing is in transition', async () => (await edge.all()).every(({ phase }) => phase === 'READY')),
  }
  return edge
}

/** Prints each phase change of what was made here. */
function showPhases(client) {
  const following = (async () => {
    const filter = { kinds: ['CLOUDLET', 'CLUSTER_INST', 'APP_INST'] }
    for await (const { changes } of client.followPhases({
      filter,
      after: 0,
      signal: AbortSignal.any([shown.signal, interrupted.signal]),
    })) {
      for (const { objectId, name, machine, from, to, actor, reason } of changes) {
        // The log may be quicker than the answer to the mutation.
        for (let waits = 0; !paths.has(objectId) && waits < 100; waits += 1) await pause(10)
        const path = paths.get(objectId) ?? name
        const what = machine === 'cloudletUpgrade' ? `${path} (upgrade)` : path
        say(`${what.padEnd(18)} ${`${from ?? '–'} → ${to}`.padEnd(38)} ${actor}${reason ? `, ${reason}` : ''}`)
      }
    }
  })()
  following.catch(() => {})
}
