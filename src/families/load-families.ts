import type { FamilyDefinition, LoadedFamily } from './define-family.ts'

/** Adds to the schema the types of these families, and what belongs to none of them. */
export async function loadFamilies(families: readonly FamilyDefinition[]): Promise<readonly LoadedFamily[]> {
  await Promise.all([
    import('./label-mutation.ts'),
    import('./backoff-mutations.ts'),
    import('./gate-mutations.ts'),
    import('./pause-mutations.ts'),
    import('../projects/graphql/index.ts'),
    import('../hooks/graphql/index.ts'),
  ])
  return await Promise.all(
    families.map(async ({ server, cli: _cli, programs: _programs, timeouts: _timeouts, ...family }) => {
      const { graphql, ...half } = await server()
      const { name, title, machines, kinds, words } = family
      return { ...family, ...half, graphql: { ...graphql, name, title, machines, kinds, words } }
    }),
  )
}
