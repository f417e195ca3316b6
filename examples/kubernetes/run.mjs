#!/usr/bin/env node
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import { fileOf, interrupted, say, startServer, title, until } from '../lib/story.mjs'

/**
 * node examples/kubernetes/run.mjs [IMAGE]: the web shop on the cluster of KUBECONFIG, in a namespace of its own: created,
 * changed, disturbed from outside, mended and deleted. Brings its own server and deployer. Exit code 0 when nothing is left.
 */

const { startAgentProcess } = await import(fileOf('agents/spawn'))
const { Secret } = await import(fileOf('core/secret'))
const { KubernetesApi } = await import(fileOf('agents/kubernetes/api'))
const { parseManifests } = await import(fileOf('manifest/index'))

const NAMESPACE = `phaseline-shop-${randomBytes(4).toString('hex')}`
const IMAGE = process.argv[2] ?? 'busybox:1'
const TYPE = 'kubernetes-manifest'
const JOB_MS = 300_000
const SHOWN = { createInstallation: '... on Installation { id }', createToken: '... on CreatedToken { secret }' }
const OBJECT = `query ($id: ID!) { object(id: $id) { phase finished error { message } ... on Installation { exports } } }`
const ITEMS = `query ($id: ID!) { tree(rootId: $id) { objects(first: 100) { edges { node {
  name kind error { message } ... on DeployItem { progress { step } logs(last: 100) { edges { node { text } } } }
} } } } }`

await using end = new AsyncDisposableStack()
try {
  process.exitCode = await main()
} catch (error) {
  console.error(`\n${error.message}`)
  process.exitCode = 1
}

async function main() {
  const config = new KubeConfig()
  config.loadFromDefault()
  if (!process.env.KUBECONFIG || !config.getCurrentCluster()) {
    console.error('This example needs a cluster: name its kubeconfig in KUBECONFIG.')
    return 2
  }
  const cluster = new KubernetesApi(config, interrupted.signal)
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-kubernetes-'))
  end.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  title(`A server, and a deployer on ${config.getCurrentCluster().server}`)
  const { client, url } = await startServer(join(folder, 'data'), end)
  const phaseline = callsOf(client)
  await startDeployer(phaseline, url)
  for (const [name, value] of Object.entries({ namespace: NAMESPACE, image: IMAGE, title: 'Corner & Co.' }))
    await phaseline.mutate('setDataObject', { project: 'default', name, value })

  title(`The shop is created, in the namespace ${NAMESPACE}`)
  const { project, name, spec } = await readShop()
  const { id } = await phaseline.mutate('createInstallation', { project, name, spec })
  end.defer(() => cluster.delete(`/api/v1/namespaces/${NAMESPACE}`).catch(() => {}))
  await phaseline.succeeded(id)
  const { exports } = await phaseline.see(id)
  say(`its exports: ${JSON.stringify(exports)}`)
  say(`its page: ${await pageOf(cluster)}`)

  title('It gets another title: only what shows it is touched')
  await phaseline.mutate('setDataObject', { project: 'default', name: 'title', value: 'Round the corner' })
  await until('the page has changed', async () => (await pageOf(cluster)).includes('Round'), JOB_MS)
  await phaseline.succeeded(id)
  say(`its page: ${await pageOf(cluster)}`)

  title('Others scale the catalog down, and delete the gateway; a reconcile mends both')
  const deployments = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`
  await cluster.patch(`${deployments}/catalog`, { spec: { replicas: 0 } })
  await cluster.delete(`${deployments}/gateway`)
  await phaseline.mutate('reconcileInstallation', { id })
  await phaseline.succeeded(id)
  for (const line of await phaseline.lines(id)) if (/drifted|was gone|spec.replicas/.test(line)) say(line)

  title('It is deleted, in the reverse order')
  await phaseline.mutate('deleteInstallation', { id })
  await until('it is gone', async () => (await phaseline.see(id)) === null, JOB_MS)
  const left = await cluster.find(`/api/v1/namespaces/${NAMESPACE}`)
  console.log(left === null ? '\nNothing is left.\n' : `\nThe namespace ${NAMESPACE} is left.\n`)
  return left === null ? 0 : 1
}

async function readShop() {
  const text = await readFile(join(import.meta.dirname, 'webshop.yaml'), 'utf8')
  const parsed = parseManifests(text)
  if (!parsed.ok) throw new Error(parsed.problems.map(({ path, message }) => `${path}: ${message}`).join('\n'))
  return parsed.manifests[0]
}

/** It keeps its inventories in the namespace of the kubeconfig, since that of the shop comes and goes. */
async function startDeployer(phaseline, url) {
  const input = { name: 'kubernetes', role: 'AGENT', actor: 'DEPLOYER', types: [TYPE] }
  const token = new Secret((await phaseline.mutate('createToken', input)).secret)
  const settings = { KUBECONFIG: process.env.KUBECONFIG }
  const onEvent = (event) => event.type === 'said' && say(`deployer: ${event.line}`)
  end.use(startAgentProcess({ types: [TYPE], url, token, settings, onEvent }))
}

/** Reads the shop's page through the API server; empty while it does not answer. */
async function pageOf(cluster) {
  const pods = `/api/v1/namespaces/${NAMESPACE}/pods`
  const query = { labelSelector: 'app=shop', fieldSelector: 'status.phase=Running' }
  const { items } = await cluster.get(pods, { query })
  const pod = items.findLast(({ metadata }) => metadata.deletionTimestamp === undefined)
  let page = ''
  try {
    const path = `${pods}/${pod?.metadata.name}:8080/proxy/index.html`
    for await (const part of await cluster.stream(path, {}, AbortSignal.timeout(5_000))) page += Buffer.from(part)
  } catch {
    return ''
  }
  return page.trim()
}

function callsOf(client) {
  const phaseline = {
    async mutate(field, input) {
      const type = field.replace(/^./, (letter) => letter.toUpperCase())
      const shown = `__typename ${SHOWN[field] ?? ''} ... on Error { code message }`
      const document = `mutation ($input: ${type}Input!) { answer: ${field}(input: $input) { ${shown} } }`
      const { answer } = await client.query(document, { input })
      if (answer.code) throw new Error(`${field}: ${answer.message}`)
      return answer
    },
    see: async (id) => (await client.query(OBJECT, { id })).object,
    async items(id) {
      const { tree } = await client.query(ITEMS, { id })
      return tree.objects.edges.map(({ node }) => node).filter(({ kind }) => kind === 'DEPLOY_ITEM')
    },
    lines: async (id) => (await phaseline.items(id)).flatMap(({ logs }) => logs.edges.map(({ node }) => node.text)),
    async succeeded(id) {
      await until('its job is over', async () => (await phaseline.see(id)).finished, JOB_MS)
      const { phase, error } = await phaseline.see(id)
      const items = phase === 'SUCCEEDED' ? [] : await phaseline.items(id)
      const why = items.flatMap(({ name, error, progress }) =>
        error ? [`${name}: ${error.message} ${progress?.step ?? ''}`] : [],
      )
      if (phase !== 'SUCCEEDED') throw new Error([`It is ${phase}: ${error?.message}`, ...why].join('\n'))
      say(`it is ${phase}`)
    },
  }
  return phaseline
}
