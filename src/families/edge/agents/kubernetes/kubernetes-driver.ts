import type { CrmDriver } from '../../../../client/index.ts'
import type { OpenOptions } from './clusters.ts'
import { listAll } from './list.ts'
import { make } from './make.ts'
import { problemOf } from './problems.ts'
import { remove } from './remove.ts'
import { findTarget, type Site } from './target.ts'

/** Makes, changes and removes the instances of a cloudlet as objects of clusters. */
export function kubernetesDriver(site: Site, options: OpenOptions): CrmDriver {
  const change: CrmDriver['create'] = async (request, context) => {
    const target = await findTarget(site, request, context).catch(throwProblem)
    if (target) await make(target, request, context).catch(throwProblem)
  }
  return {
    list: () => listAll(site, options),
    create: change,
    update: change,
    async delete(request, context) {
      const target = await findTarget(site, request, context).catch(throwProblem)
      if (target) await remove(target, context).catch(throwProblem)
    },
  }
}

function throwProblem(error: unknown): never {
  throw problemOf(error)
}
