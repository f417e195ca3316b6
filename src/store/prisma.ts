import { PrismaPg } from '@prisma/adapter-pg'
import type { Pool } from 'pg'
import { PrismaClient } from './generated/client.ts'

const clients = new WeakMap<object, PrismaClient>()

/** Prisma on the very connections of the pool, for plain reads and writes; whatever is hot is SQL of its own. */
export function prismaOn(pool: Pool): PrismaClient {
  const known = clients.get(pool)
  if (known) return known
  const client = new PrismaClient({ adapter: new PrismaPg(pool) })
  clients.set(pool, client)
  return client
}
