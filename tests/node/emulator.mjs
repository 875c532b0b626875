// A Firestore emulator on a free port of loopback, for as long as standard input stays open. Prints the port.
import { ServerCredentials } from "@grpc/grpc-js";
import { FirestoreServer } from "@firestore-emulator/server";

const emulator = new FirestoreServer();
// Its own start() binds every address of the machine and cannot choose a port.
emulator.server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  console.log(port);
});
process.stdin.on("end", () => process.exit()).resume();
