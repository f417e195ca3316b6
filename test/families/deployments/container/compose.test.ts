import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import Docker from 'dockerode'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startAgentProcess } from '../../../../src/agents/spawn.ts'
import { Secret } from '../../../../src/core/secret.ts'
import { PROJECT_LABEL } from '../../../../src/families/deployments/agents/container/container-of.ts'
import { parseManifests, writeYaml } from '../../../../src/manifest/index.ts'
import { commandLine } from '../../../cli/command.ts'
import { startTestApp, type TestApp } from '../../../testkit/app.ts'
import { ask } from '../../../testkit/ask.ts'
import { engineSocket, IMAGE, provideImage } from '../../../testkit/container-engine.ts'
import { MUTATIONS } from '../../../testkit/documents.ts'

const socket = engineSocket()
const WAIT = 'trap "exit 0" TERM; while true; do sleep 0.1; done'
/** A server on a port, whose page says what a command prints. */
const serves = (port: number, prints: string) =>
  `(${prints}) > /tmp/index.html && exec busybox httpd -f -p ${port} -h /tmp`
/** The page of another service, found by its name. */
const asks = (name: string, port: number) =>
  `at=$(busybox nslookup -type=a ${name}. | busybox awk '/^Name:/ { f = 1 } /^Address: / && f { print $2; exit }'); ` +
  `printf 'GET /index.html HTTP/1.0\\r\\n\\r\\n' | busybox nc -w 5 $at ${port} | busybox tail -n 1`

interface Sample {
  readonly name: string
  readonly compose: string
  readonly files: Readonly<Record<string, string>>
  /** Run in place of the images. */
  readonly scripts: Readonly<Record<string, string>>
  /** The service that is asked, and its page. */
  readonly front: string
  readonly page: string
}

/** A proxy before a program that is built, which reads a secret to reach its database. */
const PROXIED: Sample = {
  name: 'proxied',
  compose: `
services:
  gate:
    image: nginx:alpine
    configs: [{ source: gate, target: /etc/nginx/conf.d/default.conf }]
    ports: ["8081"]
    depends_on: [api]
  api:
    build: { context: ./api, target: builder }
    secrets: [db-password]
    depends_on:
      store: { condition: service_healthy }
  store:
    image: postgres:17
    restart: always
    secrets: [db-password]
    environment: [POSTGRES_DB=things, POSTGRES_PASSWORD_FILE=/run/secrets/db-password]
    volumes: [store-data:/var/lib/postgresql/data]
    healthcheck: { test: [CMD, test, -e, /tmp/index.html], interval: 200ms, timeout: 3s, retries: 25 }
configs: { gate: { file: gate.conf } }
secrets: { db-password: { file: secret/password } }
volumes: { store-data: }
`,
  files: { 'gate.conf': 'listen 8081;\n', 'secret/password': 'between-us' },
  scripts: {
    store: serves(
      5432,
      'cat $POSTGRES_PASSWORD_FILE; echo -n ,$POSTGRES_DB > /var/lib/postgresql/data/x; cat /var/lib/postgresql/data/x',
    ),
    api: serves(8080, `cat /run/secrets/db-password; echo -n +; ${asks('store', 5432)}`),
    gate: serves(8081, `head -c 6 /etc/nginx/conf.d/default.conf; echo -n +; ${asks('api', 8080)}`),
  },
  front: 'gate',
  page: 'listen+between-us+between-us,things',
}

/** A program and its database, with settings from `.env`. */
const BLOG: Sample = {
  name: 'blog',
  compose: `
x-logging: &logging { driver: json-file }
services:
  database:
    image: mariadb:\${MARIADB_TAG:-11}
    command: --authentication-policy=mysql_native_password
    volumes: [{ type: volume, source: rows, target: /var/lib/mysql }]
    restart: unless-stopped
    environment: { MYSQL_DATABASE: "\${DB_NAME}", MYSQL_PASSWORD: "$\${NOT_ONE}" }
    expose: [3306, 33060]
    logging: *logging
  blog:
    image: wordpress:latest
    ports: [{ target: 8082, published: "", protocol: tcp }]
    links: ["database"]
    depends_on: [database]
    environment: { WORDPRESS_DB_HOST: database, WORDPRESS_DB_NAME: "$DB_NAME" }
    volumes: ["site:/var/www/html"]
volumes: { rows: {}, site: {} }
`,
  files: { '.env': 'DB_NAME=letters\n' },
  scripts: {
    database: serves(3306, 'echo $MYSQL_DATABASE-$MYSQL_PASSWORD > /var/lib/mysql/row; cat /var/lib/mysql/row'),
    blog: serves(8082, `echo -n $WORDPRESS_DB_NAME+ > /var/www/html/x; cat /var/www/html/x; ${asks('database', 3306)}`),
  },
  front: 'blog',
  page: 'letters+letters-${NOT_ONE}',
}

/** Two equal programs behind a proxy that share a cache, and a job that must have ended before. */
const COUNTED: Sample = {
  name: 'counted',
  compose: `
services:
  cache: { image: "redislabs/redismod", networks: [inner], tmpfs: [/cache], read_only: true, user: "1000" }
  seed: { image: seed, networks: [inner], depends_on: [cache], restart: "no", volumes: ["shared:/shared"] }
  web1: &web
    build: ./web
    hostname: web1
    restart: on-failure
    networks: [inner]
    volumes: ["shared:/shared:ro"]
    depends_on: { cache: { condition: service_started }, seed: { condition: service_completed_successfully } }
  web2: { <<: *web, hostname: web2 }
  balancer:
    build: ./nginx
    ports: ["127.0.0.1::8083"]
    networks: [inner, outer]
    depends_on: [web1, web2]
networks: { inner: , outer: }
volumes: { shared: }
`,
  files: {},
  scripts: {
    cache: serves(6379, 'echo -n kept > /cache/x; cat /cache/x'),
    seed: 'echo -n seeded > /shared/x',
    web1: serves(5001, `cat /shared/x; echo -n +; ${asks('cache', 6379)}`),
    web2: serves(5002, `cat /shared/x; echo -n +; ${asks('cache', 6379)}`),
    balancer: serves(8083, `${asks('web1', 5001)}; ${asks('web2', 5002)}`),
  },
  front: 'balancer',
  page: 'seeded+keptseeded+kept',
}

describe.runIf(socket !== null)('Compose files, imported and applied', () => {
  const docker = new Docker({ socketPath: socket ?? '' })
  let stack: AsyncDisposableStack
  let server: TestApp
  let phaseline: ReturnType<typeof commandLine>
  beforeAll(async () => {
    await provideImage(socket ?? '')
    stack = new AsyncDisposableStack()
    server = stack.use(await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine' } }))
    phaseline = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token })
    const input = { name: 'deployer', role: 'AGENT', actor: 'DEPLOYER', types: ['container'] } as const
    const token = new Secret((await ask(server.client, MUTATIONS.createToken, input)).secret)
    const options = { engine: `unix://${socket}` }
    const agent = startAgentProcess({
      ...{ types: ['container-deployer'], url: server.url, token, leaseMs: 10_000 },
      options,
    })
    stack.defer(() => agent.close())
  })
  afterAll(() => stack.disposeAsync())

  test.each([PROXIED, BLOG, COUNTED])('$name', async ({ name, compose, files, scripts, front, page }) => {
    const folder = await mkdtemp(join(tmpdir(), 'phaseline-compose-'))
    stack.defer(() => rm(folder, { recursive: true }))
    for (const [path, text] of Object.entries({ 'compose.yaml': compose, ...files })) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), text)
    }
    const out = join(folder, 'out.yaml')
    const imported = await phaseline(`import compose ${join(folder, 'compose.yaml')} -o ${out} --name ${name}`)
    expect(imported).toMatchObject({ code: 0, out: '' })
    expect(await phaseline(`apply -f ${out} --dry-run`)).toMatchObject({ code: 0 })

    // Its images are on no registry of the tests.
    const parsed = parseManifests(await readFile(out, 'utf8'))
    const [manifest] = parsed.ok ? parsed.manifests : []
    const deployItems = (manifest?.spec.deployItems ?? []).map((item) => {
      const { image: _, args: __, ...config } = item.config as Readonly<Record<string, unknown>>
      const command = ['sh', '-c', `${(scripts[item.name] ?? WAIT).replaceAll('${', () => '$${')}`]
      return { ...item, config: { ...config, image: IMAGE, command, graceMs: 1_000 } }
    })
    await writeFile(out, writeYaml({ ...manifest, spec: { deployItems } }))
    const applied = await phaseline(`apply -f ${out} --wait`)
    expect(applied.out + applied.err).toContain('SUCCEEDED')
    expect(applied.code).toBe(0)
    // It round-trips: what the server has is what was written.
    expect(await phaseline(`diff -f ${out}`)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/stays as it is/),
    })

    const exports = JSON.parse((await phaseline(`get ${name}/deploy-items/${front} --json`)).out).exports
    const answer = await fetch(`http://127.0.0.1:${exports.port}/index.html`)
    expect((await answer.text()).replaceAll('\n', '')).toBe(page)

    const { Labels } = (await docker.getContainer(exports.container).inspect()).Config
    expect(JSON.parse((await phaseline('project get default --json')).out).id).toBe(Labels[PROJECT_LABEL])
    const filters = { label: [`${PROJECT_LABEL}=${Labels[PROJECT_LABEL]}`] }
    expect(await phaseline(`delete ${name} --wait --yes`)).toMatchObject({ code: 0 })
    expect(await docker.listNetworks({ filters })).toEqual([])
    expect(await docker.listContainers({ all: true, filters })).toEqual([])
    // They are kept for the next time.
    for (const { Name } of (await docker.listVolumes({ filters: JSON.stringify(filters) })).Volumes ?? [])
      await docker.getVolume(Name).remove()
  })
})
