import { claimWork } from '../../../../agents/claim-work.ts'
import { Endings } from '../../../../agents/container/endings.ts'
import { Engine } from '../../../../agents/container/engine.ts'
import { Images } from '../../../../agents/container/images.ts'
import { readEngineOptions } from '../../../../agents/container/options.ts'
import type { AgentProgram } from '../../../../agents/program.ts'
import { CONTAINER } from '../../../../core/deployers/container.ts'
import { ITEM_LABEL } from './container-of.ts'
import { containerWork } from './container-work.ts'
import { SecretFolders } from './secret-folders.ts'
import { Shared } from './shared.ts'

/** The deployer of `container` items on an engine of its machine. `docs/container-deployer.md` has its options. */
export const containers: AgentProgram = async (context) => {
  const options = readEngineOptions(context.options, context.env)
  const engine = new Engine(options.socket, ITEM_LABEL)
  const onProblem = (error: Error): void => context.onProblem(CONTAINER, { what: 'listen', error })
  await using endings = new Endings(engine, ITEM_LABEL, onProblem)
  const deployer = {
    engine,
    endings,
    images: new Images(engine.docker, options),
    ...{ secrets: await SecretFolders.open(), shared: new Shared(engine) },
  }
  await claimWork(context, { type: CONTAINER, concurrency: 8, work: containerWork(deployer) })
}
