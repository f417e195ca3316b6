import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commandLine } from '../../cli/command.ts'
import { present } from '../../testkit/ask.ts'
import { gql } from '../../testkit/gql.ts'
import { startServer } from '../../testkit/server.ts'

const PROJECT = `
apiVersion: brigade.sh/v2
kind: Project
metadata: { id: words }
description: Counts words
spec:
  eventSubscriptions: [{ source: example.com/words, types: [count], labels: { kind: text } }]
  workerTemplate:
    useWorkspace: true
    timeoutDuration: 90s
    jobPolicies: { allowPrivileged: true }
    defaultConfigFiles:
      brigade.ts: |
        import { Container, events, Job } from "@brigadecore/brigadier"
        const text = (event) => JSON.parse(event.payload).text
        events.on("example.com/words", "count", async event => {
          const write = new Job("write", "debian:latest", event);
          write.primaryContainer.workspaceMountPath = "/share";
          write.primaryContainer.environment = { TEXT: text(event) };
          write.primaryContainer.command = ["sh"];
          write.primaryContainer.arguments = ["-c", "echo $TEXT > words"];
          const side = new Container("redis:7");
          side.command = ["sleep", "1000"];
          write.sidecarContainers = { Side_1: side };
          const count = new Job("count", "debian:latest", event);
          count.primaryContainer.workspaceMountPath = "/share";
          count.primaryContainer.command = ["wc", "-w", "words"];
          const fails = new Job("fails", "debian:latest", event);
          fails.primaryContainer.command = ["false"];
          fails.fallible = true;
          await Job.sequence(write, Job.concurrent(count, fails)).run();
          console.log("counted", (await count.logs()).trim(), event.project.id);
          const last = new Job("last", "debian:latest", event);
          last.primaryContainer.command = ["false"];
          await last.run();
        });
        events.process();
`

const READ = gql(`{
  objects(filter: { project: "words", kinds: [JOB, WORKER] }, first: 10) {
    edges { node { name phase ... on Worker { logs(first: 50) { edges { node { text } } } } } }
  }
}`)

test('a script of Brigade runs as it is, and each job is its own', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-brigade-'))
  await using server = await startServer({ env: { PHASELINE_PROCESS_RUNTIME: 'trusted' } })
  const phaseline = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token })
  try {
    const [source, manifest] = [join(folder, 'project.yaml'), join(folder, 'words.yaml')]
    await writeFile(source, PROJECT)
    const { code, err } = await phaseline(`import brigade ${source} -o ${manifest}`)
    expect(code).toBe(0)
    expect(err).toContain(
      'brigade.ts: the job "write": image "debian:latest", command ["sh"], args ["-c", "echo $TEXT > words"], env { TEXT: text(event) }',
    )
    expect(err).toContain('not at "/share", a service for the sidecar of the image "redis:7"')
    expect(err).toContain('jobPolicies of the worker is left out')
    expect((await phaseline(`project apply -f ${manifest}`)).out).toBe('project words created\n')
    const created = await phaseline(
      'event create --source example.com/words --type count --label kind=text --payload-file - --follow',
      { stdin: '{"text":"one two three"}' },
    )
    expect(created.out).toContain('FAILED')
    const { objects } = await server.client.query(READ)
    const found = present(objects).edges.map(({ node }) => node)
    expect(Object.fromEntries(found.map(({ name, phase }) => [name, phase]))).toEqual({
      ...{ worker: 'FAILED', write: 'SUCCEEDED', count: 'SUCCEEDED', fails: 'FAILED', last: 'FAILED' },
    })
    const [worker] = found.filter(({ name }) => name === 'worker')
    const output = JSON.stringify(worker)
    expect(output).toContain('counted 3 words words')
    expect(output).toContain('The job write finds its sidecar Side_1 at the host side-1.')
    expect(output).toContain('The job last is FAILED')
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('a file that is no project of Brigade is refused', async () => {
  const phaseline = commandLine({})
  const run = await phaseline('import brigade -', { stdin: 'kind: Project\nname: ours\n' })
  expect(run).toMatchObject({ code: 2, err: expect.stringContaining('it is no project of Brigade 2.') })
})

test('a script that is one long word, or has blanks without an end, is read in time', async () => {
  const long = ['a'.repeat(500_000), `a = new Job(${' '.repeat(50_000)}`, `new Container(${' '.repeat(50_000)}`]
  const script = ['const job = new Job( "one" , image(), event)', 'job.sidecarContainers = {}', ...long].join('\n')
  const project = {
    ...{ kind: 'Project', apiVersion: 'brigade.sh/v2', metadata: { id: 'long' } },
    spec: { workerTemplate: { defaultConfigFiles: { 'brigade.js': script } } },
  }
  const { code, err } = await commandLine({})('import brigade -', { stdin: JSON.stringify(project) })
  expect(code).toBe(0)
  expect(err).toContain('brigade.js: the job "one": image image()\n')
})
