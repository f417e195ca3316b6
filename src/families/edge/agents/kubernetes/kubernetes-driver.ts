import type { CrmContext, CrmDriver, CrmRequest } from '../../../../client/index.ts'
import type { OpenOptions } from './clusters.ts'
import { listAll } from './list.ts'
import { make } from './make.ts'
import { problemOf } from './problems.ts'
import { remove } from './remove.ts'
import { findTarget, type Site, type Target } from './target.ts'

type Change = (target: Target, context: CrmContext, request: CrmRequest) => Promise<void>

/** Makes, changes and removes the instances of a cloudlet as objects of clusters. */
export function kubernetesDriver(site: Site, options: OpenOptions): CrmDriver {
  const onTarget =
    (change: Change): CrmDriver['create'] =>
    async (request, context) => {
      try {
        const target = await findTarget(site, request, context)
        if (target) await change(target, context, request)
      } catch (error) {
        throw problemOf(error)
      }
    }
  return {
    list: () => listAll(site, options),
    create: onTarget(make),
    update: onTarget(make),
    delete: onTarget(remove),
  }
}
