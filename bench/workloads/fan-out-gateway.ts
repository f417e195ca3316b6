import { answerReadings } from './fan-out-peer.ts'

/** A gateway of Phaseline: the server as it is, in a process that reports its resources. */
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
const { serve } = await import('../../src/serve.ts')
const serving = serve({ example: false, say: () => {} })
answerReadings(Number(process.env.PORT))
await serving
process.exit()
