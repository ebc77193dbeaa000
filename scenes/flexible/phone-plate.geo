Mesh.ElementOrder = 2; Mesh.SecondOrderIncomplete = 1; Mesh.SaveGroupsOfNodes = 1;
Point(1) = {-0.08, -0.039, -0.004, 1};
l[] = Extrude {0, 0.078, 0} { Point{1}; Layers{4}; };
s[] = Extrude {0, 0, 0.008} { Line{l[1]}; Layers{1}; Recombine; };
v[] = Extrude {0.16, 0, 0} { Surface{s[1]}; Layers{8}; Recombine; };
Physical Volume("BODY", 1) = {v[1]};
Physical Point("CORNERS", 2) = {1,2,3,4,5,6,7,8,9,10,11,12};
