// npm install @grpc/grpc-js @grpc/proto-loader. PRECIS_PROTOS is the folder `protos` of a checkout, or of the client.
const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');

const options = { includeDirs: [process.env.PRECIS_PROTOS || `${__dirname}/../protos`], enums: String };
const { JudgeService } = grpc.loadPackageDefinition(loader.loadSync('precis/v1/judge.proto', options)).precis.v1;
const client = new JudgeService(process.env.PRECIS_ADDRESS || '127.0.0.1:50051', grpc.credentials.createInsecure());
const source = 'The bridge will close for nine months. Repairs cost 4.2 million dollars.';
const summary = 'The bridge will close for nine months. Repairs cost 42 million dollars.';
client.judge({ source, summary }, (error, response) => {
  if (error) throw error;
  const metric = response.result.frameworks[0].metrics.find((one) => one.name.endsWith('HALLUCINATION'));
  console.log('hallucination', metric.score);
  client.close();
});
