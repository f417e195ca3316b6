import { v7 } from 'uuid'
import { expect, test } from 'vitest'
import { families } from '../../src/families/index.ts'
import { MIGRATIONS_FOLDER } from '../../src/start/package-folder.ts'
import { extendVocabulary } from '../../src/store/extend-vocabulary.ts'
import { knownMigrations } from '../../src/store/migrate.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { backups } from './index.ts'

test('the database takes the words of a family, and guards its machine with those of the product', async () => {
  await using database = await createTestDatabase()
  const { pool } = database
  const all = [...families, backups]
  const migrations = await knownMigrations(MIGRATIONS_FOLDER)
  // Two processes start at the same time; a third one comes later.
  await Promise.all([extendVocabulary(pool, all, migrations), extendVocabulary(pool, all, migrations)])
  const guardOf = () =>
    pool.query(`select xmin, obj_description(oid) from pg_proc where proname = 'object_moved_guard'`)
  const { rows: made } = await guardOf()
  await extendVocabulary(pool, all, migrations)
  expect((await guardOf()).rows).toEqual(made)
  // A newer version, as it looks to one without the last migration, may have more in its guard.
  await extendVocabulary(pool, families, migrations.slice(0, -1))
  expect((await guardOf()).rows).toEqual(made)

  const project = v7()
  await pool.query('insert into project (id, name, created_at, updated_at) values ($1, $2, now(), now())', [
    project,
    'default',
  ])
  const insert = (kind: string, phase: string) => {
    const id = v7()
    return pool
      .query(
        `insert into object (id, root_id, project_id, kind, name, ordinal, phase, revision, phase_since, created_at, updated_at)
         values ($1, $1, $2, $3, $1::uuid::text, 0, $4, 1, now(), now(), now())`,
        [id, project, kind, phase],
      )
      .then(() => id)
  }
  const move = (id: string, to: string) => pool.query('update object set phase = $2 where id = $1', [id, to])
  const backup = await insert('BACKUP', 'PENDING')
  await move(backup, 'COPYING')
  await expect(move(backup, 'PENDING')).rejects.toThrow('BACKUP may not go from COPYING to PENDING')
  await expect(insert('BACKUP', 'KEPT')).rejects.toThrow('BACKUP may not go from nowhere to KEPT')
  const task = await insert('TASK', 'PENDING')
  await expect(move(task, 'KEPT')).rejects.toThrow('TASK may not go from PENDING to KEPT')
  await move(task, 'RUNNING')
})

test('a word that is none is refused before it is written into SQL', async () => {
  await using database = await createTestDatabase()
  const words = { kinds: { "X'; drop table object; --": 'No word.' } } as object
  await expect(extendVocabulary(database.pool, [{ words, machines: [] }], [])).rejects.toThrow('is no word')
})
