import type { Pool } from 'pg'
import type { PrismaClient } from './generated/client.ts'
import { poolItself } from './operation-reads.ts'

const clients = new WeakMap<object, Promise<PrismaClient>>()

/**
 * Prisma on the connections of the pool, for plain reads and writes. Loading it takes a second and 50 MB, so it is loaded
 * at first use: no process waits for it at its start, and one that only runs the engine never loads it.
 */
export function prismaOn(given: Pool): Promise<PrismaClient> {
  const pool = poolItself(given)
  const known = clients.get(pool)
  if (known) return known
  const client = loadPrisma(pool)
  clients.set(pool, client)
  return client
}

async function loadPrisma(pool: Pool): Promise<PrismaClient> {
  const [{ PrismaPg }, { PrismaClient }] = await Promise.all([
    import('@prisma/adapter-pg'),
    import('./generated/client.ts'),
  ])
  return new PrismaClient({ adapter: new PrismaPg(pool) })
}
