import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Generates the Prisma client, offline and online alike. The client needs no Rust engine, but Prisma's command line
 * downloads its schema engine before it does anything; an executable that does nothing takes its place.
 */
const folder = mkdtempSync(join(tmpdir(), 'phaseline-generate-'))
const engine = join(folder, 'schema-engine')
writeFileSync(engine, '#!/bin/sh\nexit 0\n')
chmodSync(engine, 0o755)
try {
  const prisma = createRequire(import.meta.url).resolve('prisma/build/index.js')
  execFileSync(process.execPath, [prisma, 'generate', '--no-hints'], {
    cwd: join(import.meta.dirname, '..'),
    stdio: 'pipe',
    env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: engine, CHECKPOINT_DISABLE: '1' },
  })
} catch (error) {
  process.stderr.write(String((error as { stderr?: unknown }).stderr ?? error))
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true })
}
