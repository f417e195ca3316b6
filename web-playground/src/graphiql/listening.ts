/** GraphiQL's page posts this to the dashboard around it when it accepts operations. */
export const LISTENING = 'phaseline:graphiql-listens'
