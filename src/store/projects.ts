import type { Pool } from 'pg'
import type { Ambient } from '../core/ports.ts'
import { prismaOn } from './prisma.ts'

/** Nothing happens when there is one. */
export async function ensureProject(pool: Pool, name: string, ambient: Ambient): Promise<void> {
  const now = ambient.now()
  // Skipped rather than refused: two processes may start at once.
  await prismaOn(pool).project.createMany({
    data: [{ id: ambient.id(), name, createdAt: now, updatedAt: now }],
    skipDuplicates: true,
  })
}
